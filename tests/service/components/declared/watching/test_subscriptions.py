"""What a trigger makes at its app: made, renewed by a request or by a new one in its place, taken back."""

from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import FakeAnswer
from tests.service.catalog.components.trigger_harness import ENDPOINT, TriggerHarness, logged
from tests.service.components.declared.conftest import ACCOUNT, Desk
from tests.service.components.declared.test_triggers import BY_BODY, HEAD, HTTP, PUSHED, opened
from webapp.kit.clock import HOUR, iso

AT = 1_893_456_000_000
RENEWED = HTTP.replace(
    "[webhook]\n", '[webhook]\nsecret = "{$answer.secret}"\nid = "hook-{$answer.id}"\nlasts = 7200\n'
)
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


@pytest.mark.parametrize(
    "endpoint", ["http://patchbay.example/h/k", "https://127.0.0.1/h/k", "https://a.localhost/h", ""]
)
def test_a_push_needs_an_address_that_apps_can_reach(desk: Desk, endpoint: str) -> None:
    trigger = opened(desk, HEAD + ACCOUNT + REPLACED)
    trigger.endpoint = endpoint
    assert call(trigger, "activate").ends_at is None
    call(trigger, "deactivate")
    assert desk.provider.asked == []
