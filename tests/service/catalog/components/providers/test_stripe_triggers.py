"""Stripe's trigger, against a fake written from its reference.

https://docs.stripe.com/api/webhook_endpoints and https://docs.stripe.com/webhooks/signature
"""

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness
from tests.service.catalog.components.trigger_harness import ENDPOINT, TriggerHarness, logged
from webapp.service.components.calls import Call, Reply

SECRET = "whsec_1"
NOW_S = 1_900_000_000
EVENT = {"id": "evt_1", "object": "event", "type": "charge.failed", "created": NOW_S - 5, "data": {"object": {}}}
TOLD = "A request was ignored: its signature is not the one of Stripe, or the secret has changed."


@pytest.fixture
def stripe(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("stripe", api_key="sk_test_1")
    made.on("POST /v1/webhook_endpoints", {"id": "we_1", "object": "webhook_endpoint", "secret": SECRET})
    made.on("DELETE /v1/webhook_endpoints/we_1", {"id": "we_1", "object": "webhook_endpoint", "deleted": True})
    return made


@pytest.fixture
def harness(stripe: AppHarness) -> TriggerHarness:
    made = stripe.trigger("new-event", event_types=["charge.failed", "invoice.paid"])
    made.activate()
    return made


def signature(raw: str, secret: str = SECRET, at: int = NOW_S) -> str:
    return hmac.new(secret.encode(), f"{at}.{raw}".encode(), hashlib.sha256).hexdigest()


def receive(harness: TriggerHarness, header: Callable[[str], str], at: int = NOW_S) -> Reply:
    raw = json.dumps(EVENT, indent=2)
    return harness.receive(raw, {"Stripe-Signature": header(raw)}, at=at * 1000)


def test_an_endpoint_is_created_and_deleted(stripe: AppHarness, harness: TriggerHarness) -> None:
    form = parse_qs(stripe.last.body.decode())
    assert form == {"url": [ENDPOINT], "enabled_events[]": ["charge.failed", "invoice.paid"]}
    harness.deactivate()
    assert stripe.last.what == "DELETE /v1/webhook_endpoints/we_1"
    assert (harness.state["hook"], harness.state["secret"]) == (None, None)


@pytest.mark.parametrize(
    "header",
    [
        lambda raw: f"t={NOW_S},v1={signature(raw)}",
        lambda raw: f"t={NOW_S},v1={'0' * 64},v1={signature(raw)},v0={'1' * 64}",
    ],
    ids=["one", "several while a secret is exchanged"],
)
def test_a_signed_event_is_emitted(harness: TriggerHarness, header: Callable[[str], str]) -> None:
    (emitted,) = receive(harness, header).events
    assert (emitted.event, emitted.id, emitted.summary) == (EVENT, "evt_1", "charge.failed")
    assert emitted.ts == (NOW_S - 5) * 1000


@pytest.mark.parametrize(
    "header",
    [
        lambda raw: "",
        lambda raw: f"t={NOW_S}",
        lambda raw: f"t={NOW_S},v1={signature(raw, 'whsec_2')}",
        lambda raw: f"t={NOW_S + 1},v1={signature(raw)}",
        lambda raw: f"t={NOW_S},v0={signature(raw)}",
        lambda raw: f"t={NOW_S},v1={signature(raw + ' ')}",
        lambda raw: f"t=soon,v1={hmac.new(SECRET.encode(), f'soon.{raw}'.encode(), 'sha256').hexdigest()}",
    ],
    ids=["none", "no signature", "another secret", "another time", "another scheme", "another body", "no number"],
)
def test_a_signature_that_does_not_fit(harness: TriggerHarness, header: Callable[[str], str]) -> None:
    reply = receive(harness, header)
    assert (reply.events, logged(reply)) == ((), TOLD)


@pytest.mark.parametrize(("late_s", "taken"), [(300, 1), (301, 0), (-300, 1), (-301, 0)])
def test_the_signed_time_may_be_five_minutes_off(harness: TriggerHarness, late_s: int, taken: int) -> None:
    reply = receive(harness, lambda raw: f"t={NOW_S},v1={signature(raw)}", at=NOW_S + late_s)
    assert len(reply.events) == taken


def test_types_are_offered_and_others_may_be_typed(stripe: AppHarness, harness: TriggerHarness) -> None:
    found: Any = stripe.runner.call(
        Call(str(harness.path), method="options", prop="event_types", query="payment_inten")
    )
    assert found.value["string_options"][-1] == "payment_intent.succeeded"
    assert all(one.startswith("payment_intent.") for one in found.value["string_options"])
