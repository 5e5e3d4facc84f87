"""Slack's actions, against a fake of the Web API written from https://docs.slack.dev/reference/methods."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer
from tests.service.catalog.components.trigger_harness import logged

CHANNELS = [
    [{"id": "C1", "name": "general"}, {"id": "C2", "name": "random"}],
    [{"id": "C3", "name": "engineering"}],
]
SEEN = {"public_channel": "channels:read", "private_channel": "groups:read", "mpim": "mpim:read", "im": "im:read"}
OTHERS = [
    {"id": "G1", "name": "board", "is_private": True},
    {"id": "G2", "name": "mpdm-ada--grace-1", "is_private": True, "is_mpim": True},
    {"id": "D1", "is_im": True, "user": "U1"},
    {"id": "D2", "is_im": True, "user": "U9"},
]
LIMITED = "Slack takes no more requests for now. Try again in a minute."
MESSAGE = {"channel": "C1", "ts": "1716400000.123456"}


@pytest.fixture
def slack(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("slack", oauth_access_token="xoxp-1")
    made.on("POST /conversations.list", _channels)
    return made


def _lacking(asked: Asked, *scopes: str) -> dict[str, Any] | None:
    """The refusal for a token that has ``scopes`` alone, where one more is needed."""
    needed = [scope for kind, scope in SEEN.items() if kind in asked.form["types"].split(",") and scope not in scopes]
    refusal = {"ok": False, "error": "missing_scope", "needed": ",".join(needed), "provided": ",".join(scopes)}
    return refusal if needed else None


def _channels(asked: Asked) -> dict[str, Any]:
    if refusal := _lacking(asked, "channels:read", "users:read"):
        return refusal
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
    assert [asked.form["types"] for asked in slack.provider.asked][1::2] == ["public_channel", "public_channel"]


def test_private_channels_and_direct_messages_are_offered_where_they_may_be_seen(slack: AppHarness) -> None:
    slack.on(
        "POST /conversations.list", lambda asked: _lacking(asked, *SEEN.values()) or {"ok": True, "channels": OTHERS}
    )
    slack.on("POST /users.list", {"ok": True, "members": [{"id": "U1", "name": "ada", "real_name": "Ada Lovelace"}]})
    assert slack.options("send-message", "channel")["found"] == {
        "#board (private)": "G1",
        "Group message: ada, grace": "G2",
        "Direct message: Ada Lovelace": "D1",
        "Direct message: U9": "D2",
    }
    assert slack.options("send-message", "channel", query="lovelace")["found"] == {"Direct message: Ada Lovelace": "D1"}


def test_kinds_that_may_not_be_seen_at_all_are_said(slack: AppHarness) -> None:
    assert slack.refuses("list-channels", kinds=["im"]) == (
        "The account lacks the permission im:read. Connect it again and allow that."
    )


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
        (
            {"error": "not_in_channel"},
            "You are not in that channel. Join it in Slack first; a bot has to be added to it.",
        ),
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
    assert slack.last.form == {"channel": "C1", "limit": "15"}
    assert (reply.value, reply.exports["$summary"]) == ([{"text": "Hello"}], "Read 1 message")


def _history(asked: Asked) -> dict[str, Any]:
    """Pages of the 15 messages at most that an app outside the Marketplace gets."""
    limit, page = int(asked.form["limit"]), int(asked.form.get("cursor", "0"))
    assert limit <= 15
    messages = [{"ts": str(page)}] * limit
    return {"ok": True, "messages": messages, "response_metadata": {"next_cursor": str(page + 1)}}


def test_more_messages_come_page_by_page(slack: AppHarness) -> None:
    slack.on("POST /conversations.history", _history)
    assert [len(slack.run("list-messages", channel="C1", limit=limit).value) for limit in (40, 15)] == [40, 15]
    assert [asked.form["limit"] for asked in slack.provider.asked] == ["15", "15", "10", "15"]


def test_what_came_before_slack_gave_no_more_is_kept(slack: AppHarness) -> None:
    limited = FakeAnswer(429, {"ok": False, "error": "ratelimited"})
    slack.on("POST /conversations.history", lambda asked: limited if "cursor" in asked.form else _history(asked))
    reply = slack.run("list-messages", channel="C1", limit=40)
    assert (len(reply.value), logged(reply)) == (15, f"The app gave no more than the first 15. {LIMITED}")
    slack.on("POST /conversations.history", limited)
    assert slack.refuses("list-messages", channel="C1") == LIMITED


def test_a_file_is_uploaded_in_three_steps(slack: AppHarness) -> None:
    """As https://docs.slack.dev/reference/methods/files.getUploadURLExternal says."""
    place = {"ok": True, "upload_url": f"http://{slack.host}/api/upload", "file_id": "F1"}
    slack.on("POST /files.getUploadURLExternal", place)
    slack.on("POST /upload", {})
    slack.on("POST /files.completeUploadExternal", {"ok": True, "files": [{"id": "F1"}]})
    reply = slack.run("upload-file", {"channel": "#general"}, channel="C1", filename="a.txt", text="Grüße")
    asked, sent, completed = slack.provider.asked
    assert (asked.form, sent.body) == ({"filename": "a.txt", "length": "7"}, "Grüße".encode())
    assert completed.form == {"files": '[{"id": "F1", "title": "a.txt"}]', "channel_id": "C1"}
    assert (reply.value, reply.exports["$summary"]) == ({"id": "F1"}, "Uploaded a.txt (7 bytes) to #general")


@pytest.mark.parametrize(
    ("props", "sentence"),
    [
        ({}, "Enter either a file or a text."),
        ({"text": "a", "file": "https://a.example/"}, "Enter either a file or a text."),
        (
            {"file": "/files.list"},
            "There is no file files.list. Give an address, or a file of the stash that the run names.",
        ),
    ],
)
def test_a_file_needs_one_source(slack: AppHarness, props: dict[str, str], sentence: str) -> None:
    assert slack.refuses("upload-file", channel="C1", filename="a.txt", **props) == sentence


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
