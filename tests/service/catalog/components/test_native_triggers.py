"""The native triggers: what they ask for. They also run as components do, and emit what the service emits for them."""

from typing import Any

import pytest

from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components.calls import Call
from webapp.service.components.checker import check
from webapp.service.components.executor import Executor
from webapp.service.domain.triggers.configuration import NATIVE

FILES = {
    "http-new-requests": "http/triggers/new-requests",
    "schedule-custom-interval": "schedule/triggers/custom-interval",
    "schedule-cron": "schedule/triggers/cron",
    "email-new-email": "email/triggers/new-email",
}
PROPS = {
    "http-new-requests": ["http", "response_status", "response_content_type", "response_body"],
    "schedule-custom-interval": ["cron"],
    "schedule-cron": ["cron"],
    "email-new-email": [],
}
EVENTS: dict[str, Any] = {
    "http-new-requests": {"method": "POST", "path": "/a"},
    "schedule-custom-interval": {"timestamp": 1, "interval_seconds": 900},
    "schedule-cron": {"timestamp": 1, "cron": "0 * * * *", "timezone": "UTC"},
    "email-new-email": {"subject": "Hello", "headers": {"message-id": "<1@a>"}},
}


@pytest.mark.parametrize("key", NATIVE)
def test_a_native_trigger(runner: Executor, key: str) -> None:
    path = BUILT_IN / FILES[key] / "0.0.1.py"
    assert check(path, runner.call) == []
    declared = runner.call(Call(path=str(path), method="declare")).value
    assert [prop["name"] for prop in declared["configurable_props"]] == PROPS[key]
    assert (declared["kind"], declared["app"]) == ("source", None)
    reply = runner.call(Call(path=str(path), event=EVENTS[key]))
    assert reply.error is None
    assert [one.event for one in reply.events] == [EVENTS[key]]
    if key == "http-new-requests":
        assert reply.response is not None
        assert (reply.response.status, reply.response.body) == (200, '{"success": true}')
