"""What triggers do: they watch, are asked, hear of events, shake hands."""

import hashlib
from typing import Any

import pytest

from tests.service.components.pieces.program.driver import Host, Outcome

ENDPOINT = "https://connect.test/h/1"


def call(host: Host, name: str, method: str, **fields: Any) -> Outcome:
    outcome = host.call(kind="trigger", name=name, method=method, **fields)
    assert outcome.error is None
    return outcome


def test_a_polling_trigger_watches_and_emits_the_oldest_first(host: Host) -> None:
    began = call(host, "polling", "activate")
    assert began.value == {"listeners": [], "schedule": {"cron": "*/5 * * * *", "timezone": "UTC"}}
    assert began.state == {"flow:last": 0}
    assert "timer" in began.logs[0]
    polled = call(host, "polling", "run", state=began.state)
    digest = hashlib.sha256(b'{"id":1}').hexdigest()
    assert [(event["emit"], event["id"]) for event in polled.events] == [({"id": 1}, digest), ({"id": 2}, "k2")]
    assert polled.state == {"flow:last": 2}
    assert call(host, "polling", "deactivate", state=polled.state).state == {"flow:last": None}
    assert [event["emit"] for event in call(host, "polling", "deploy").events] == [{"id": 1}, {"id": 2}]


def test_a_webhook_trigger_registers_its_address_and_renews(host: Host) -> None:
    assert call(host, "webhook", "activate", endpoint=ENDPOINT).state == {"flow:hook": ENDPOINT}
    assert call(host, "webhook", "renew").state == {"flow:renewed": True}
    assert call(host, "webhook", "deploy").events == []


@pytest.mark.parametrize(
    ("kind", "body", "parsed"),
    [
        ("application/json", {"a": 1}, {"a": 1}),
        ("application/x-www-form-urlencoded", "a=1&b=%20", {"a": "1", "b": " "}),
    ],
)
def test_a_webhook_trigger_emits_what_its_event_says(host: Host, kind: str, body: Any, parsed: Any) -> None:
    event = {
        **{"method": "PUT", "path": "/", "query": {"q": "1"}, "headers": {"Content-Type": kind}},
        **{"body": body, "bodyRaw": "raw"},
    }
    first, second = call(host, "webhook", "run", event=event).events
    headers = {"content-type": kind}
    payload = {"body": parsed, "rawBody": "raw", "headers": headers, "queryParams": {"q": "1"}, "method": "PUT"}
    assert (first["emit"], first["id"]) == (payload, None)
    assert second["emit"] == {"second": True}


@pytest.mark.parametrize("method", ["run", "handshake"])
def test_a_handshake_is_answered_and_emits_nothing(host: Host, method: str) -> None:
    outcome = call(host, "webhook", method, event={"headers": {"X-Hook-Secret": "s"}, "body": {}})
    headers = {"content-type": "application/json", "x-hook-secret": "s"}
    assert outcome.messages == [{"respond": 201, "body": '{"ok":true}', "headers": headers}]


def test_an_app_trigger_says_what_it_listens_to(host: Host) -> None:
    listeners = [{"events": ["message"], "identifier": "T1"}]
    assert call(host, "app", "activate").value == {"listeners": listeners, "schedule": None}
    assert call(host, "app", "run", event={"body": {"x": 1}}).events[0]["emit"] == {"x": 1}


def test_the_piece_verifies_and_reads_events_of_its_app(host: Host) -> None:
    event = {"headers": {"X-Secret": "s"}, "body": {"type": "message", "team": "T1"}, "query": {"challenge": "c"}}
    assert host.call(method="verify", event=event, secret="s", endpoint=ENDPOINT).value is True
    assert host.call(method="verify", event=event, secret="other", endpoint=ENDPOINT).value is False
    reply = {"headers": {}, "body": "c"}
    assert host.call(method="parse", event=event).value == {"event": "message", "identifier": "T1", "reply": reply}
