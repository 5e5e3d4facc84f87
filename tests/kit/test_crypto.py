"""Identifiers, keys and sealed values."""

import hashlib
import re

import pytest

from webapp.kit import crypto


@pytest.mark.parametrize("prefix", ["proj", "apn", "exu", "u"])
def test_a_new_id_is_its_prefix_and_base62(prefix: str) -> None:
    assert re.fullmatch(prefix + r"_[0-9A-Za-z]{14}", crypto.new_id(prefix))


def test_new_ids_differ() -> None:
    assert len({crypto.new_id("apn") for _ in range(2_000)}) == 2_000


def test_every_letter_of_the_alphabet_turns_up() -> None:
    assert set(crypto.random_base62(20_000)) == set(crypto.ALPHABET)
    assert len(crypto.ALPHABET) == len(set(crypto.ALPHABET)) == 62


def test_a_stable_id_is_the_same_on_every_machine() -> None:
    assert crypto.stable_id("app", "github") == "app_UclYNFstR02L"
    assert crypto.stable_id("app", "github") == crypto.stable_id("app", "github")


def test_a_stable_id_depends_on_prefix_and_on_where_the_parts_end() -> None:
    found = {crypto.stable_id("app", "ab", "c"), crypto.stable_id("app", "a", "bc"), crypto.stable_id("sc", "ab", "c")}
    assert len({one.partition("_")[2] for one in found}) == 3


def test_a_name_holds_lower_case_letters_and_digits() -> None:
    assert "".join(sorted(set(crypto.random_name(20_000)))) == "0123456789abcdefghijklmnopqrstuvwxyz"
    assert len(crypto.random_name(32)) == 32


def test_random_base62_has_the_length_asked_for() -> None:
    assert [len(crypto.random_base62(n)) for n in (0, 1, 43)] == [0, 1, 43]


def test_hash_token_is_sha256_in_hex() -> None:
    assert crypto.hash_token("ctok_1") == hashlib.sha256(b"ctok_1").hexdigest()


def test_hash_token_takes_whatever_a_client_sent() -> None:
    assert len(crypto.hash_token("\ud800")) == 64


@pytest.mark.parametrize(
    ("one", "other", "equal"), [("a", "a", True), ("a", "b", False), ("a", "aa", False), ("ü", "ü", True)]
)
def test_same(one: str, other: str, equal: bool) -> None:
    assert crypto.same(one, other) is equal


def test_same_takes_lone_surrogates() -> None:
    assert not crypto.same("\ud800", "x")


def test_an_id_lasts_as_long_as_its_request() -> None:
    ids = crypto.begin_request()
    first = crypto.request_id()
    assert len(first) == 16 and ids == (first, "")
    crypto.end_request(ids)
    assert crypto.request_id() == ""
    crypto.end_request(crypto.begin_request())
    assert crypto.request_id() == ""


def test_a_request_within_a_request_shares_its_id() -> None:
    outer = crypto.begin_request()
    shared = crypto.request_id()
    inner = crypto.begin_request(shared)
    assert crypto.request_id() == shared
    crypto.end_request(inner)
    assert crypto.request_id() == shared
    crypto.end_request(outer)


def test_a_request_within_that_ends_late_leaves_no_id_behind() -> None:
    outer = crypto.begin_request()
    inner = crypto.begin_request(crypto.request_id())
    crypto.end_request(outer)
    crypto.end_request(inner)
    assert crypto.request_id() == ""


def test_what_is_sealed_opens_with_the_same_key_and_context() -> None:
    key = crypto.new_key()
    sealed = crypto.seal(key, b"canary", "proj_1|accounts|apn_1|credentials|1")
    assert crypto.open_sealed(key, sealed, "proj_1|accounts|apn_1|credentials|1") == b"canary"
    assert b"canary" not in sealed


def test_sealing_twice_gives_different_bytes() -> None:
    key = crypto.new_key()
    assert crypto.seal(key, b"same", "place") != crypto.seal(key, b"same", "place")


def test_another_key_place_or_byte_does_not_open() -> None:
    key = crypto.new_key()
    sealed = crypto.seal(key, b"canary", "row 1")
    attempts = [(crypto.new_key(), sealed, "row 1"), (key, sealed, "row 2")]
    attempts += [(key, sealed[:i] + bytes([sealed[i] ^ 1]) + sealed[i + 1 :], "row 1") for i in range(len(sealed))]
    attempts += [(key, sealed[:length], "row 1") for length in range(len(sealed))]
    for wrong_key, wrong_sealed, wrong_context in attempts:
        with pytest.raises(crypto.CannotOpen):
            crypto.open_sealed(wrong_key, wrong_sealed, wrong_context)


def test_a_derived_key_depends_on_the_key_and_the_purpose() -> None:
    key = crypto.new_key()
    assert crypto.derive(key, "cookies") == crypto.derive(key, "cookies")
    assert len({crypto.derive(key, "cookies"), crypto.derive(key, "wrap"), crypto.derive(b"k" * 32, "cookies")}) == 3
    assert len(crypto.derive(key, "wrap")) == crypto.KEY_BYTES


def test_derive_is_hkdf_sha256_as_rfc_5869_has_it() -> None:
    """Test case 3 of RFC 5869 (no salt, no info), its first 32 bytes."""
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert crypto.derive(b"\x0b" * 22, "").hex() == expected
