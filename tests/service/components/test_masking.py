"""Secrets leave no trace in text, whatever form they take."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.masking import MASK, BodyMask, Mask
from webapp.service.outbound.placements import Placement

SECRET = 'pass "word"/ü&x'


@pytest.mark.parametrize(
    "form",
    [
        SECRET, quote(SECRET, safe=""), quote_plus(SECRET), json.dumps(SECRET)[1:-1],
        base64.b64encode(SECRET.encode()).decode(),
    ],
)  # fmt: skip
def test_every_form_is_masked(form: str) -> None:
    mask = Mask([SECRET])
    assert mask(f"a {form} b").rstrip("= b") == f"a {MASK}"


def test_a_key_of_many_lines_is_masked_line_by_line() -> None:
    assert Mask(["BEGIN KEY\nabcdef\nEND KEY"])("> abcdef <") == f"> {MASK} <"


def test_the_longer_secret_goes_first_and_short_ones_are_left() -> None:
    assert Mask(["abcd", "abcdefgh", "a"])("abcdefgh abcd a") == f"{MASK} {MASK} a"


def test_what_a_call_hides() -> None:
    basic = Placement("basic", username="{user}", password="{key}")
    grant = AccountGrant({"user": "ada-user", "key": "k3y-value"}, placements=(basic,), secrets=("key",))
    mask = Mask.of(Call(path="x", accounts={"a": grant}, mask=("pin-1234",)))
    header = base64.b64encode(b"ada-user:k3y-value").decode()
    assert mask(f"ada-user k3y-value pin-1234 {header}") == f"ada-user {MASK} {MASK} {MASK}"
    everything = Mask.of(Call(path="x", accounts={"a": AccountGrant({"user": "ada-user"})}))
    assert everything("ada-user") == MASK


LONG = "canary-secret-of-an-account"


@pytest.mark.parametrize("size", [1, 5, 13, 27, 1_000])
@pytest.mark.parametrize(
    "text",
    [
        f'{{"headers": {{"Authorization": "Bearer {LONG}"}}, "other": "canary-secret-of-another"}}', LONG, "",
        f"{LONG}{LONG} canary-secret-of-an-accoun", "c" * 50, f"ca{LONG}\N{SNOWMAN}",
    ],
)  # fmt: skip
def test_a_body_keeps_its_length_and_loses_its_secrets_in_whatever_blocks_it_comes(text: str, size: int) -> None:
    body = text.encode()
    mask = BodyMask(Mask([LONG, "short"]))
    passed = b"".join(mask(body[start : start + size] for start in range(0, len(body), size)))
    assert passed == body.replace(LONG.encode(), b"*" * len(LONG))


def test_a_body_is_held_back_no_longer_than_it_must_and_short_secrets_are_left() -> None:
    blocks = iter([b"one canary-", b"bird, short", b" can"])
    assert list(BodyMask(Mask([LONG, "short"]))(blocks)) == [b"one ", b"canary-bird, short", b" ", b"can"]
