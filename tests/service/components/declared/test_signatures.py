"""Signatures of requests that come, with the examples of the references where there are some."""

import base64
import hashlib
import hmac
from typing import Any

import pytest

from webapp.service.components.declared.signatures import fits
from webapp.service.components.declared.trigger_form import Signature

NOW_S = 1_896_076_800
SECRET = "It's a Secret to Everybody"
GITHUB = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def event(headers: dict[str, str], body: str = "Hello, World!") -> dict[str, Any]:
    return {"headers": headers, "bodyRaw": body, "timestamp": NOW_S * 1000}


def signed(text: str) -> bytes:
    return hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).digest()


PLAIN = Signature(header="X-Hub-Signature-256", prefix="sha256=")
TIMED = Signature(header="X-Sig", prefix="v0=", signed="v0:{$time}:{$body}", time_header="X-Time")
PAIRS = Signature(header="Stripe-Signature", signed="{$time}.{$body}", pairs=True)
BASE64 = Signature(header="X-Sig", encoding="base64")
TOKEN = Signature(header="X-Token", scheme="token")


@pytest.mark.parametrize(
    ("signature", "headers", "fit"),
    [
        (PLAIN, {"x-hub-signature-256": f"sha256={GITHUB}"}, True),
        (PLAIN, {"x-hub-signature-256": GITHUB}, False),
        (PLAIN, {}, False),
        (TIMED, {"x-time": f"{NOW_S - 10}", "x-sig": f"v0={signed(f'v0:{NOW_S - 10}:Hello, World!').hex()}"}, True),
        (TIMED, {"x-time": f"{NOW_S - 400}", "x-sig": f"v0={signed(f'v0:{NOW_S - 400}:Hello, World!').hex()}"}, False),
        (TIMED, {"x-time": "soon", "x-sig": f"v0={signed('v0:soon:Hello, World!').hex()}"}, False),
        (PAIRS, {"stripe-signature": f"t={NOW_S}, v1=00, v1={signed(f'{NOW_S}.Hello, World!').hex()}"}, True),
        (PAIRS, {"stripe-signature": f"t={NOW_S},v1=00"}, False),
        (PAIRS, {"stripe-signature": f"v1={signed('.Hello, World!').hex()}"}, False),
        (BASE64, {"x-sig": base64.b64encode(signed("Hello, World!")).decode()}, True),
        (TOKEN, {"x-token": SECRET}, True),
        (TOKEN, {"x-token": "another"}, False),
    ],
)
def test_a_signature(signature: Signature, headers: dict[str, str], fit: bool) -> None:
    assert fits(signature, SECRET, event(headers)) is fit
