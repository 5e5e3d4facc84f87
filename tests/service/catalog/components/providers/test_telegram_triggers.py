"""Telegram's trigger, against a fake written from https://core.telegram.org/bots/api#setwebhook."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness
from tests.service.catalog.components.trigger_harness import ENDPOINT, TriggerHarness, logged

HEADER = "X-Telegram-Bot-Api-Secret-Token"
ADA = {"id": 7, "type": "private", "first_name": "Ada"}
TEAM = {"id": -100, "type": "supergroup", "title": "The team", "username": "the_team"}


@pytest.fixture
def telegram(desk_of: Callable[..., AppHarness]) -> AppHarness:
    """A bot whose webhook is set and deleted as the reference says."""
    made = desk_of("telegram", bot_token="123456:ABC-DEF")
    webhook = {"url": ""}

    def set_(asked: Any) -> Any:
        webhook["url"] = asked.json["url"]
        return {"ok": True, "result": True, "description": "Webhook was set"}

    def delete(_: Any) -> Any:
        webhook["url"] = ""
        return {"ok": True, "result": True}

    made.on("POST /getWebhookInfo", lambda _: {"ok": True, "result": dict(webhook)})
    made.on("POST /setWebhook", set_)
    made.on("POST /deleteWebhook", delete)
    return made


def switched_on(telegram: AppHarness, **props: Any) -> TriggerHarness:
    harness = telegram.trigger("new-message", **props)
    harness.activate()
    return harness


def update(chat: Any = ADA, kind: str = "message", **more: Any) -> dict[str, Any]:
    message = {"message_id": 1, "chat": chat, "date": 1_900_000_000, "text": "Hello"} | more
    return {"update_id": 41, kind: message}


def taken(harness: TriggerHarness, body: Any) -> list[Any]:
    return list(harness.receive(body, {HEADER: harness.state["secret"]}).events)


def test_the_webhook_is_set_and_deleted(telegram: AppHarness) -> None:
    harness = switched_on(telegram)
    secret = harness.state["secret"]
    assert telegram.last.json == {"url": ENDPOINT, "secret_token": secret, "allowed_updates": ["message"]}
    assert len(secret) == 43
    harness.deactivate()
    assert telegram.last.what == "POST /deleteWebhook"
    assert harness.state["secret"] is None


def test_another_address_is_taken_over_only_when_asked(telegram: AppHarness) -> None:
    elsewhere = {"ok": True, "result": {"url": "https://elsewhere.example/"}}
    telegram.on("POST /getWebhookInfo", elsewhere)
    said = "The bot sends to another address already. Switch Take over on to move it here."
    assert telegram.trigger("new-message").refuses("activate") == said
    harness = switched_on(telegram, replace=True)
    assert telegram.last.what == "POST /setWebhook"
    harness.deactivate()  # by now the bot sends elsewhere again, which is left alone
    assert telegram.last.what == "POST /getWebhookInfo"


def test_what_telegram_says_is_passed_on(telegram: AppHarness) -> None:
    error = {"ok": False, "error_code": 400, "description": "Bad Request: bad webhook: An HTTPS URL must be provided"}
    telegram.on("POST /setWebhook", error)
    assert telegram.trigger("new-message").refuses("activate") == (
        "Telegram refused: Bad Request: bad webhook: An HTTPS URL must be provided."
    )


def test_a_message_is_emitted(telegram: AppHarness) -> None:
    (emitted,) = taken(switched_on(telegram), update())
    assert (emitted.event, emitted.id, emitted.summary) == (update(), "41", "Ada: Hello")
    assert emitted.ts == 1_900_000_000_000


@pytest.mark.parametrize("headers", [{}, {HEADER: "guessed"}])
def test_a_forged_request_is_ignored_and_reported(telegram: AppHarness, headers: dict[str, str]) -> None:
    reply = switched_on(telegram).receive(update(), headers)
    told = "A request was ignored: its signature is not the one of Telegram, or the secret has changed."
    assert (reply.events, logged(reply)) == ((), told)


@pytest.mark.parametrize(
    ("props", "body", "count"),
    [
        ({"chat_id": "-100"}, update(TEAM), 1),
        ({"chat_id": "@the_team"}, update(TEAM), 1),
        ({"chat_id": "-100"}, update(ADA), 0),
        ({}, update(kind="edited_message"), 0),
        ({"kinds": ["edited_message"]}, update(kind="edited_message", edit_date=1_900_000_001), 1),
        ({}, {"update_id": 1, "poll": {"id": "1"}}, 0),
        ({}, update(text=None, caption="A photo"), 1),
    ],
)
def test_what_is_wanted(telegram: AppHarness, props: dict[str, Any], body: Any, count: int) -> None:
    assert len(taken(switched_on(telegram, **props), body)) == count
