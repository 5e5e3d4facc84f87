import hashlib
import re

import pytest

from webapp.kit import ids


@pytest.mark.parametrize("prefix", ["proj", "apn", "exu", "u"])
def test_a_new_id_is_its_prefix_and_base62(prefix: str) -> None:
    assert re.fullmatch(prefix + r"_[0-9A-Za-z]{14}", ids.new_id(prefix))


def test_new_ids_differ() -> None:
    assert len({ids.new_id("apn") for _ in range(2_000)}) == 2_000


def test_every_letter_of_the_alphabet_turns_up() -> None:
    assert set(ids.random_base62(20_000)) == set(ids.ALPHABET)
    assert len(ids.ALPHABET) == len(set(ids.ALPHABET)) == 62


def test_a_stable_id_is_the_same_on_every_machine() -> None:
    assert ids.stable_id("app", "github") == "app_UclYNFstR02L"
    assert ids.stable_id("app", "github") == ids.stable_id("app", "github")


def test_a_stable_id_depends_on_prefix_and_on_where_the_parts_end() -> None:
    found = {ids.stable_id("app", "ab", "c"), ids.stable_id("app", "a", "bc"), ids.stable_id("sc", "ab", "c")}
    assert len({one.partition("_")[2] for one in found}) == 3


def test_random_base62_has_the_length_asked_for() -> None:
    assert [len(ids.random_base62(n)) for n in (0, 1, 43)] == [0, 1, 43]


def test_hash_token_is_sha256_in_hex() -> None:
    assert ids.hash_token("ctok_1") == hashlib.sha256(b"ctok_1").hexdigest()


def test_hash_token_takes_whatever_a_client_sent() -> None:
    assert len(ids.hash_token("\ud800")) == 64


@pytest.mark.parametrize(
    ("one", "other", "equal"), [("a", "a", True), ("a", "b", False), ("a", "aa", False), ("ü", "ü", True)]
)
def test_same(one: str, other: str, equal: bool) -> None:
    assert ids.same(one, other) is equal


def test_same_takes_lone_surrogates() -> None:
    assert not ids.same("\ud800", "x")


def test_an_id_lasts_as_long_as_its_request() -> None:
    before = ids.begin_request()
    first = ids.request_id()
    assert len(first) == 16 and before == ""
    ids.end_request(before)
    assert ids.request_id() == ""
    ids.end_request(ids.begin_request())
    assert ids.request_id() == ""


def test_a_request_within_a_request_shares_its_id() -> None:
    outer = ids.begin_request()
    shared = ids.request_id()
    inner = ids.begin_request(shared)
    assert ids.request_id() == shared
    ids.end_request(inner)
    assert ids.request_id() == shared
    ids.end_request(outer)
