"""Signatures of requests that come, with the examples of the references where there are some.

What a request asks for by which an app tells of news; without the secret, nothing.

What a trigger makes at its app: made, renewed by a request or by a new one in its place, taken back.
"""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import FakeAnswer
from tests.service.catalog.components.trigger_harness import ENDPOINT, TriggerHarness, logged
from tests.service.components.declared.conftest import ACCOUNT, Desk
from tests.service.components.declared.test_triggers import BY_BODY, HEAD, HTTP, PUSHED, opened
from webapp.kit.clock import HOUR, iso
from webapp.service.components.declared.form import Push, Signature
from webapp.service.components.declared.webhooks import Notification, challenge_answer, fits, read

NOW_S = 1_896_076_800
SECRET = "It's a Secret to Everybody"
GITHUB = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
FACTS: dict[str, Any] = {
    "lasts": 3600,
    "subscribe": {"url": "/a"},
    "unsubscribe": {"url": "/a"},
    "token": "{$item.key}",
    "items": "{$event.body.value}",
    "renew_if": "{$item.ends}",
    "ignore_if": "{$item.kind|is('sync')}",
    "challenge": {"only_if": "{$event.query.try}", "answer": "{$event.query.try}"},
}
PUSH = Push.model_validate(FACTS)
LOOK, RENEW, NOTHING = Notification(True, False), Notification(True, True), Notification(False, False)
AT = 1_893_456_000_000
RENEWED = HTTP.replace(
    "[webhook]\n", '[webhook]\nsecret = "{$answer.secret}"\nid = "hook-{$answer.id}"\nlasts = 7200\n'
)


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


@pytest.mark.parametrize(
    ("things", "notification"),
    [
        ([{"key": "s"}], LOOK),
        ([{"key": "x"}, {"key": "s", "ends": "soon"}], RENEW),
        ([{"key": "s"}, {"key": "x", "ends": "soon"}], LOOK),
        ([{"key": "s", "kind": "sync", "ends": "soon"}], NOTHING),
        ([{"key": "S"}, {}, None, 3, "s", {"key": ["s"]}], None),
        ([], None), (None, None), ({"key": "s"}, None), ("s", None),
    ],
)  # fmt: skip
def test_what_bears_the_secret_counts(things: Any, notification: Notification | None) -> None:
    assert read(PUSH, "s", {"body": {"value": things}}) == notification


def test_without_a_list_the_request_itself_counts() -> None:
    push = Push.model_validate(
        {**FACTS, "items": "", "token": "{$event.headers.x-key}", "renew_if": "", "ignore_if": ""}
    )
    assert read(push, "s", {"headers": {"x-key": "s"}, "body": None}) == LOOK
    assert read(push, "s", {"headers": {}, "body": "s"}) is None
    assert challenge_answer(push.model_copy(update={"challenge": None}), {"query": {"try": "a"}}) is None


def test_an_address_that_is_tried() -> None:
    assert challenge_answer(PUSH, {"query": {"try": "a<b"}}) == "a<b"
    assert challenge_answer(PUSH, {"query": {}}) is None


RENEWED += '[webhook.renew]\nmethod = "PUT"\nurl = "/hooks/{$hook}"\njson = { until = "{$until|iso}" }\n'
CHANNEL = """
id = { id = "{$channel}", at = "{$answer.place}" }
ends = "{$answer.ends}"
values = { what = "notes" }

[push.subscribe]
method = "POST"
url = "/watch"
json = { id = "{$channel}", token = "{$secret}", until = "{$until}", to = "{$endpoint}", what = "{$values.what}" }

[push.unsubscribe]
method = "POST"
url = "/stop"
json = { id = "{$hook.id}", at = "{$hook.at}" }
"""
REPLACED = PUSHED.partition("subscribe =")[0] + CHANNEL


def call(trigger: TriggerHarness, method: str, **changes: Any) -> Any:
    reply = trigger.call(method, {"timestamp": AT})
    assert reply.error is None, reply.error
    return reply


def test_a_webhook_that_ends_by_itself_is_renewed_by_a_request(desk: Desk) -> None:
    trigger = opened(desk, BY_BODY + ACCOUNT + RENEWED)
    desk.on("POST /hooks", {"id": 12, "secret": "theirs"})
    assert trigger.tick() == []
    assert desk.provider.asked == []
    assert call(trigger, "activate").ends_at == AT + 2 * HOUR
    assert (trigger.state["hook"], trigger.state["secret"]) == ("hook-12", "theirs")
    desk.on("PUT /hooks/hook-12", {})
    assert call(trigger, "renew").ends_at == AT + 2 * HOUR
    assert (desk.last.what, desk.last.json) == ("PUT /hooks/hook-12", {"until": iso(AT + 2 * HOUR)})
    desk.on("PUT /hooks/hook-12", FakeAnswer(503, {}))
    assert "status 503" in trigger.refuses("renew")
    desk.on("PUT /hooks/hook-12", FakeAnswer(404, {}))
    desk.on("POST /hooks", {"id": 13, "secret": "new"})
    assert "does not know the subscription any more" in logged(call(trigger, "renew"))
    assert (trigger.state["hook"], trigger.state["secret"]) == ("hook-13", "new")


EXISTING = """
[webhook.existing]
url = "/hooks"
items = "hooks"
where = { "to.url" = "{$endpoint}" }
id = "{$item.key}"
"""


def test_a_webhook_whose_id_got_lost_is_found_by_its_address(desk: Desk) -> None:
    trigger = opened(desk, BY_BODY + ACCOUNT + HTTP + EXISTING)
    hooks = [{"key": 7, "to": {"url": ENDPOINT}}, {"key": 8, "to": {"url": f"{ENDPOINT}x"}}, {"key": 9, "to": {}}]
    desk.on("GET /hooks", {"hooks": hooks})
    desk.on("DELETE /hooks/7", FakeAnswer(404, {}))
    assert call(trigger, "deactivate").value is True
    assert [asked.what for asked in desk.provider.asked] == ["GET /hooks", "DELETE /hooks/7"]
    desk.on("GET /hooks", FakeAnswer(503, {}))
    assert "status 503" in trigger.refuses("deactivate")


def test_a_trigger_without_an_address_deletes_no_webhook_of_others(desk: Desk) -> None:
    """As one that was deployed before its component subscribed: a list with no address to look for is everybody's."""
    trigger = opened(desk, BY_BODY + ACCOUNT + HTTP + EXISTING)
    trigger.endpoint = None  # type: ignore[assignment]
    desk.on("GET /hooks", {"hooks": [{"key": 8, "to": {"url": "https://other.example"}}]})
    desk.on("DELETE /hooks/8", {})
    assert call(trigger, "deactivate").value is True
    assert desk.provider.asked == []


def test_without_a_list_an_unknown_webhook_may_be_left(desk: Desk) -> None:
    trigger = opened(desk, BY_BODY + ACCOUNT + HTTP)
    assert call(trigger, "deactivate").value is False
    desk.on("POST /hooks", {"id": 12})
    call(trigger, "activate")
    desk.on("DELETE /hooks/12", {})
    assert call(trigger, "deactivate").value is True


def test_what_cannot_be_renewed_is_put_in_place_of_the_one_before(desk: Desk) -> None:
    trigger = opened(desk, HEAD + ACCOUNT + REPLACED)
    desk.on("POST /watch", {"place": "p1", "ends": str(AT + HOUR // 2)})
    assert call(trigger, "activate").ends_at == AT
    assert desk.provider.asked == []
    assert call(trigger, "renew").ends_at == AT + HOUR // 2
    first, secret = trigger.state["hook"], trigger.state["secret"]
    told = {"id": first["id"], "token": secret, "until": AT + HOUR, "to": ENDPOINT, "what": "notes"}
    assert (desk.last.json, first["at"]) == (told, "p1")
    desk.on("POST /stop", FakeAnswer(500, {}))
    assert "could not be taken back, and ends by itself" in logged(call(trigger, "renew"))
    assert desk.last.json == first
    second = trigger.state["hook"]
    assert second["id"] != first["id"] and trigger.state["secret"] != secret
    desk.on("POST /stop", FakeAnswer(204, {}))
    call(trigger, "deactivate")
    assert (desk.last.json, trigger.state["hook"]) == (second, None)


def test_a_signed_push_counts_unless_it_is_ignored() -> None:
    ignored = "{$event.headers.x-event|is('ping')}"
    push = PUSH.model_copy(update={"items": "", "token": "", "signature": PLAIN, "renew_if": "", "ignore_if": ignored})
    heard = {"x-hub-signature-256": f"sha256={GITHUB}", "x-event": "push"}
    assert read(push, SECRET, event(heard)) == LOOK
    assert read(push, SECRET, event(heard | {"x-event": "ping"})) == Notification(look=False, renew=False)
    assert read(push, "another", event(heard)) is None
    assert read(push, SECRET, event(heard) | {"bodyRaw": "Hello"}) is None


@pytest.mark.parametrize(
    "endpoint", ["http://patchbay.example/h/k", "https://127.0.0.1/h/k", "https://a.localhost/h", ""]
)
def test_a_push_needs_an_address_that_apps_can_reach(desk: Desk, endpoint: str) -> None:
    trigger = opened(desk, HEAD + ACCOUNT + REPLACED)
    trigger.endpoint = endpoint
    assert call(trigger, "activate").ends_at is None
    call(trigger, "deactivate")
    assert desk.provider.asked == []
