"""Identifiers, sealed values, and signatures: these by the library of the standard and by the recipe of the manual."""

import base64
import hashlib
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from webapp.kit import crypto
from webapp.kit.crypto import SIGNING_KEY, new_signing_key, signed_headers


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
    before = crypto.begin_request()
    first = crypto.request_id()
    assert len(first) == 16 and before == ""
    crypto.end_request(before)
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


BODY = '{"name":"Zoë","n":1}'.encode()


def test_keys_are_fresh_and_hold_256_bits() -> None:
    one, other = new_signing_key(), new_signing_key()
    assert one != other
    assert one.startswith(SIGNING_KEY)
    assert len(base64.b64decode(one.removeprefix(SIGNING_KEY), validate=True)) == 32


def test_the_standards_own_library_verifies() -> None:
    key = new_signing_key()
    headers = signed_headers(key, "evt_1", int(time.time()), BODY)
    assert Webhook(key).verify(BODY, headers) == {"name": "Zoë", "n": 1}
    with pytest.raises(WebhookVerificationError):
        Webhook(key).verify(BODY + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_signing_key()).verify(BODY, headers)


def test_known_answers() -> None:
    """Computed once with openssl dgst -sha256 -mac HMAC."""
    key = SIGNING_KEY + base64.b64encode(bytes(range(32))).decode()
    assert signed_headers(key, "evt_1", 1_700_000_000, b"{}") == {
        "x-pd-signature": "t=1700000000,v1=c96db64dcac97ab83cf9a5c23aebfdd84148c3fd17caeb1ff7f359754d7d0025",
        "webhook-id": "evt_1",
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1,bXtchBV0Hi1flm60IFUb87JKA3d/Yvv8UoEjbNotegk=",
    }


MANUAL = Path(__file__).parents[2] / "templates" / "docs" / "embed.md"


def recipe(language: str, name: str) -> str:
    """The recipe in the manual, which is ten lines long at most."""
    text = MANUAL.read_text("utf-8")
    (found,) = [one for one in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if name in one]
    assert len([line for line in found.splitlines() if line]) <= 10
    return str(found)


def cases(key: str) -> list[tuple[str, bytes, bool]]:
    """Headers and bodies, and whether they are genuine."""
    at = int(time.time())
    good = signed_headers(key, "evt_1", at, BODY)["x-pd-signature"]
    old = signed_headers(key, "evt_1", at - 600, BODY)["x-pd-signature"]
    return [(good, BODY, True), (good, BODY + b" ", False), (good[:-2] + "zz", BODY, False), (old, BODY, False)]


def test_the_recipe_in_python() -> None:
    scope: dict[str, Any] = {}
    exec(recipe("python", "is_genuine"), scope)
    key = new_signing_key()
    for header, body, genuine in cases(key):
        assert scope["is_genuine"](key, header, body) is genuine


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
def test_the_recipe_in_javascript(tmp_path: Path) -> None:
    key = new_signing_key()
    calls = [
        f'console.log(isGenuine("{key}", "{header}", Buffer.from("{body.hex()}", "hex")));'
        for header, body, _ in cases(key)
    ]
    (tmp_path / "recipe.mjs").write_text("\n".join([recipe("javascript", "isGenuine"), *calls]))
    done = subprocess.run(["node", tmp_path / "recipe.mjs"], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.split() == [str(genuine).lower() for _, _, genuine in cases(key)]
