"""Signatures of requests that come, with the examples of the references where there are some."""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from webapp.service.components.declared.signatures import fits
from webapp.service.components.declared.trigger_form import Signature

NOW_S = 1_896_076_800
SECRET = "It's a Secret to Everybody"
GITHUB = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def event(headers: dict[str, str], body: str = "Hello, World!") -> dict[str, Any]:
    address = {"method": "POST", "url": "https://patchbay.example/h/app/acme/oa_1"}
    return {"headers": headers, "bodyRaw": body, "timestamp": NOW_S * 1000, **address}


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


WHOLE = Signature(
    header="X-HubSpot-Signature-v3", encoding="base64", signed="{$method}{$url}{$body}{$time}",
    time_header="X-HubSpot-Request-Timestamp", time_unit="ms",
)  # fmt: skip


@pytest.mark.parametrize(("late_s", "address", "fit"), [(10, "", True), (400, "", False), (10, "/other", False)])
def test_method_and_address_of_a_request_may_be_signed_and_milliseconds(late_s: int, address: str, fit: bool) -> None:
    sent_at = f"{(NOW_S - late_s) * 1000}"
    digest = signed(f"POST{event({})['url']}{address}Hello, World!{sent_at}")
    signature = base64.b64encode(digest).decode()
    headers = {"x-hubspot-signature-v3": signature, "x-hubspot-request-timestamp": sent_at}
    assert fits(WHOLE, SECRET, event(headers)) is fit
    assert not fits(WHOLE, SECRET, event(headers | {"x-hubspot-request-timestamp": f"{NOW_S * 1000}"}))


def test_sha_1_as_intercom_signs() -> None:
    signature = Signature(header="X-Hub-Signature", scheme="hmac-sha1", prefix="sha1=")
    digest = hmac.new(SECRET.encode(), b"Hello, World!", hashlib.sha1).hexdigest()
    assert fits(signature, SECRET, event({"x-hub-signature": f"sha1={digest}"}))
    assert not fits(signature, SECRET, event({"x-hub-signature": f"sha1={signed('Hello, World!').hex()}"}))


@pytest.mark.parametrize(("late_s", "fit"), [(10, True), (100, False)])
def test_a_time_in_the_body_is_signed_with_it(late_s: int, fit: bool) -> None:
    signature = Signature(header="Linear-Signature", time_member="webhookTimestamp", time_unit="ms", tolerance=60)
    body = f'{{"webhookTimestamp": {(NOW_S - late_s) * 1000}}}'
    request = event({"linear-signature": signed(body).hex()}, body) | {"body": json.loads(body)}
    assert fits(signature, SECRET, request) is fit
    assert not fits(signature, SECRET, event({"linear-signature": signed("{}").hex()}, "{}") | {"body": {}})
