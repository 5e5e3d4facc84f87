"""Slack's actions, against a fake of the Web API written from https://docs.slack.dev/reference/methods."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked

CHANNELS = [
    [{"id": "C1", "name": "general"}, {"id": "C2", "name": "random"}],
    [{"id": "C3", "name": "engineering"}],
]
MESSAGE = {"channel": "C1", "ts": "1716400000.123456"}


@pytest.fixture
def slack(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("slack", oauth_access_token="xoxp-1")
    made.on("POST /conversations.list", _channels)
    return made


def _channels(asked: Asked) -> dict[str, Any]:
    assert asked.form["types"] == "public_channel"
    assert asked.form["exclude_archived"] == "true"
    page = int(asked.form.get("cursor", "page0").removeprefix("page"))
    following = f"page{page + 1}" if page + 1 < len(CHANNELS) else ""
    return {"ok": True, "channels": CHANNELS[page], "response_metadata": {"next_cursor": following}}


def test_the_permissions_that_the_methods_need_can_be_asked_for(slack: AppHarness) -> None:
    needed = {"channels:read", "channels:history", "chat:write", "users:read.email", "reactions:write"}
    assert needed <= set(slack.app.default_scopes)


def test_channels_come_page_by_page(slack: AppHarness) -> None:
    first = slack.options("send-message", "channel")
    assert first == {"found": {"#general": "C1", "#random": "C2"}, "context": {"cursor": "page1"}}
    second = slack.options("send-message", "channel", page=1, previous=first["context"])
    assert second == {"found": {"#engineering": "C3"}, "context": None}
    assert slack.options("send-message", "channel", page=2)["found"] == {}


def test_a_search_for_a_channel_reads_on_until_it_finds_one(slack: AppHarness) -> None:
    assert slack.options("send-message", "channel", query="ENG") == {"found": {"#engineering": "C3"}, "context": None}
    assert len(slack.provider.asked) == 2


def test_a_message_is_sent(slack: AppHarness) -> None:
    slack.on("POST /chat.postMessage", {"ok": True, **MESSAGE, "message": {"text": "Hello & <you>"}})
    reply = slack.run("send-message", {"channel": "#general"}, channel="C1", text="Hello & <you>")
    assert slack.last.form == {"channel": "C1", "text": "Hello & <you>"}
    assert reply.value["ts"] == MESSAGE["ts"]
    assert reply.exports["$summary"] == "Sent the message to #general"


def test_a_reply_goes_into_its_thread(slack: AppHarness) -> None:
    slack.on("POST /chat.postMessage", {"ok": True, **MESSAGE})
    slack.run("send-message", channel="C1", text="Yes", thread_ts="1.2", reply_broadcast=True)
    assert slack.last.form == {"channel": "C1", "text": "Yes", "thread_ts": "1.2", "reply_broadcast": "true"}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"error": "not_in_channel"}, "You are not in that channel. Join it in Slack first."),
        (
            {"error": "missing_scope", "needed": "chat:write"},
            "The account lacks the permission chat:write. Connect it again and allow that.",
        ),
        ({"error": "fatal_error"}, "Slack refused with fatal_error. Check what you entered."),
    ],
)
def test_a_refusal_is_one_sentence(slack: AppHarness, answer: dict[str, str], sentence: str) -> None:
    slack.on("POST /chat.postMessage", {"ok": False, **answer})
    assert slack.refuses("send-message", channel="C1", text="Hello") == sentence


def test_a_message_is_changed(slack: AppHarness) -> None:
    slack.on("POST /chat.update", {"ok": True, **MESSAGE, "text": "New"})
    slack.run("update-message", **MESSAGE, text="New")
    assert slack.last.form == {**MESSAGE, "text": "New"}


def test_messages_are_read(slack: AppHarness) -> None:
    slack.on("POST /conversations.history", {"ok": True, "messages": [{"text": "Hello"}], "has_more": False})
    reply = slack.run("list-messages", channel="C1")
    assert slack.last.form == {"channel": "C1", "limit": "20"}
    assert (reply.value, reply.exports["$summary"]) == ([{"text": "Hello"}], "Read 1 message")


def test_channels_are_listed_up_to_a_number(slack: AppHarness) -> None:
    assert [one["id"] for one in slack.run("list-channels").value] == ["C1", "C2", "C3"]
    assert [one["id"] for one in slack.run("list-channels", most=1).value] == ["C1"]


def test_a_person_is_found_by_address(slack: AppHarness) -> None:
    slack.on("POST /users.lookupByEmail", lambda asked: _person(asked.form["email"]))
    reply = slack.run("find-user-by-email", email="ada@example.com")
    assert (reply.value["id"], reply.exports["$summary"]) == ("U1", "Found Ada Lovelace")
    assert slack.refuses("find-user-by-email", email="x@example.com") == (
        "Nobody in the workspace has that e-mail address."
    )


def _person(email: str) -> dict[str, Any]:
    if email != "ada@example.com":
        return {"ok": False, "error": "users_not_found"}
    return {"ok": True, "user": {"id": "U1", "name": "ada", "real_name": "Ada Lovelace"}}


def test_an_emoji_is_added_with_or_without_colons(slack: AppHarness) -> None:
    slack.on("POST /reactions.add", {"ok": True})
    slack.run("add-reaction", **MESSAGE, emoji=":tada:")
    assert slack.last.form == {"channel": "C1", "timestamp": MESSAGE["ts"], "name": "tada"}
