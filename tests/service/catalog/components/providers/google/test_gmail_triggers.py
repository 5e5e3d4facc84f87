"""Gmail's triggers, against a fake written from https://developers.google.com/workspace/gmail/api/guides/sync."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer
from tests.service.catalog.components.providers.google.test_gmail import message
from tests.service.catalog.components.trigger_harness import logged


@pytest.fixture
def gmail(desk_of: Callable[..., AppHarness]) -> AppHarness:
    harness = desk_of("gmail", oauth_access_token="token")
    for id in ("1", "2", "3"):
        harness.on(f"GET /users/me/messages/{id}", message(id))
    harness.on("GET /users/me/messages", {"messages": [{"id": "2"}, {"id": "1"}]})
    harness.on("GET /users/me/profile", {"emailAddress": "me@example.com", "historyId": "100"})
    return harness


def added(*ids: str, kind: str = "messagesAdded") -> list[dict[str, Any]]:
    more = {"labelIds": ["Label_7"]} if kind == "labelsAdded" else {}
    return [{"id": id, kind: [{"message": {"id": id}, **more}]} for id in ids]


def test_each_new_email_is_reported_once(gmail: AppHarness) -> None:
    trigger = gmail.trigger("new-email-received", label="INBOX")
    assert [email.summary for email in trigger.deploy()] == ["Letter 1", "Letter 2"]

    def history(asked: Asked) -> Any:
        assert asked.query["startHistoryId"] == "100" and asked.query["historyTypes"] == "messageAdded"
        if "pageToken" not in asked.query:
            return {"history": added("3"), "nextPageToken": "p2", "historyId": "120"}
        return {"history": added("3", "gone"), "historyId": "120"}

    gmail.on("GET /users/me/history", history)
    assert [email.id for email in trigger.tick()] == ["3"]
    assert trigger.state["at"] == "120"


def test_an_email_that_gets_a_label_is_reported(gmail: AppHarness) -> None:
    trigger = gmail.trigger("new-labeled-email", label="Label_7")
    trigger.deploy()
    gmail.on("GET /users/me/history", {"history": added("1", kind="labelsAdded"), "historyId": "101"})
    assert [email.id for email in trigger.tick()] == ["1"]


def test_a_history_that_is_too_old_is_begun_anew(gmail: AppHarness) -> None:
    trigger = gmail.trigger("new-email-received", label="INBOX")
    trigger.state["at"] = "1"
    gmail.on("GET /users/me/history", FakeAnswer(404, {"error": {"code": 404}}))
    reply = trigger.call("run", {"timestamp": 0, "interval_seconds": 900})
    assert reply.error is None and "from now on" in logged(reply)
    assert trigger.state["at"] == "100"


def test_what_is_too_much_for_one_run_waits_for_the_next(gmail: AppHarness) -> None:
    trigger = gmail.trigger("new-email-received", label="INBOX")
    trigger.state |= {"at": "100", "pending": [f"gone{number}" for number in range(40)]}
    gmail.on("GET /users/me/history", {"history": added("3"), "historyId": "101"})
    assert trigger.tick() == [] and trigger.state["pending"] == ["3"]
    gmail.on("GET /users/me/history", {"historyId": "101"})
    assert [email.id for email in trigger.tick()] == ["3"]


def test_what_a_search_finds_anew_is_reported(gmail: AppHarness) -> None:
    trigger = gmail.trigger("new-email-matching-search", q="from:ada")
    assert [email.id for email in trigger.deploy()] == ["1", "2"]
    gmail.on("GET /users/me/messages", {"messages": [{"id": "3"}, {"id": "2"}]})
    assert [email.id for email in trigger.tick()] == ["3"]
    assert trigger.tick() == []


def test_a_mailbox_is_watched_for_the_topic_and_not_without_one(gmail: AppHarness) -> None:
    trigger = gmail.trigger("new-sent-email")
    trigger.path = trigger.path.with_name("0.0.2.py")
    trigger.endpoint = "projects/acme-mail/topics/gmail"
    assert trigger.call("activate", {"timestamp": 1_000}).ends_at == 1_000
    gmail.on("POST /users/me/watch", {"historyId": "100", "expiration": "605800000"})
    reply = trigger.call("renew", {"timestamp": 1_000})
    assert (reply.error, reply.ends_at, trigger.state["hook"]) == (None, 605_800_000, "me@example.com")
    gmail.on("POST /users/me/stop", FakeAnswer(204, None))
    assert trigger.call("deactivate", {"timestamp": 1_000, "shared": True}).value is True
    assert "POST /users/me/stop" not in [asked.what for asked in gmail.provider.asked]
    trigger.endpoint = ""
    assert trigger.call("activate", {"timestamp": 1_000}).ends_at is None
    assert "no topic" in trigger.refuses("renew", {"timestamp": 1_000})
