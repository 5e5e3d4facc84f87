"""Telegram's actions, against a fake written from https://core.telegram.org/bots/api."""

from collections.abc import Callable

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, FakeAnswer

ADA = {"id": 7, "type": "private", "first_name": "Ada", "last_name": "Lovelace"}
TEAM = {"id": -100, "type": "supergroup", "title": "The team"}
UPDATES = [
    {"update_id": 1, "message": {"message_id": 1, "chat": ADA, "text": "Hello"}},
    {"update_id": 2, "my_chat_member": {"chat": TEAM}},
    {"update_id": 3, "message": {"message_id": 2, "chat": ADA, "text": "Again"}},
    {"update_id": 4, "poll": {"id": "1"}},
]


@pytest.fixture
def telegram(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("telegram", bot_token="123456:ABC-DEF")
    made.on("POST /getUpdates", {"ok": True, "result": UPDATES})
    return made


def test_the_token_stands_in_the_address(telegram: AppHarness) -> None:
    assert telegram.provider.base_path == "/bot123456%3AABC-DEF"


def test_the_chats_heard_of_lately_are_offered_once(telegram: AppHarness) -> None:
    assert telegram.options("send-message", "chat_id")["found"] == {"Ada Lovelace": "7", "The team": "-100"}
    assert telegram.options("send-message", "chat_id", query="team")["found"] == {"The team": "-100"}
    assert telegram.options("send-message", "chat_id", page=1)["found"] == {}


def test_a_message_is_sent(telegram: AppHarness) -> None:
    telegram.on("POST /sendMessage", {"ok": True, "result": {"message_id": 3, "chat": TEAM, "text": "<b>Hi</b>"}})
    reply = telegram.run("send-message", chat_id="-100", text="<b>Hi</b>", parse_mode="HTML", reply_to=2)
    assert telegram.last.json == {
        "chat_id": "-100", "text": "<b>Hi</b>", "parse_mode": "HTML", "reply_parameters": {"message_id": 2}
    }  # fmt: skip
    assert (reply.value["message_id"], reply.exports["$summary"]) == (3, "Sent the message to The team")


def test_a_photo_is_sent(telegram: AppHarness) -> None:
    telegram.on("POST /sendPhoto", {"ok": True, "result": {"message_id": 4, "chat": ADA}})
    telegram.run("send-photo", chat_id="7", photo="https://a.example/1.png", disable_notification=True)
    assert telegram.last.json == {"chat_id": "7", "photo": "https://a.example/1.png", "disable_notification": True}


def test_updates_are_read_and_left_waiting(telegram: AppHarness) -> None:
    assert telegram.run("get-updates", limit=10).value == UPDATES
    assert telegram.last.json == {"limit": 10, "timeout": 0}  # no offset, which would confirm them


def test_what_telegram_says_is_passed_on(telegram: AppHarness) -> None:
    error = {"ok": False, "error_code": 400, "description": "Bad Request: chat not found"}
    telegram.on("POST /sendMessage", FakeAnswer(400, error))
    assert telegram.refuses("send-message", chat_id="9", text="Hi") == "Telegram refused: Bad Request: chat not found."
