"""Slack's trigger, against requests written from https://docs.slack.dev/apis/events-api and what it links to."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness
from tests.service.catalog.components.trigger_harness import TriggerHarness, logged
from webapp.service.catalog.shared.webhooks import hmac_sha256
from webapp.service.components.calls import HttpAnswer, Reply

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
MESSAGE = {
    "type": "message", "channel": "C123ABC456", "user": "U123ABC456", "text": "Hello world", "ts": "1355517523.000005"
}  # fmt: skip
TOLD = "A request was ignored: its signature is not the one of Slack, or the secret has changed."


@pytest.fixture
def slack(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("slack", oauth_access_token="xoxp-1")
    made.on("POST /auth.test", {"ok": True, "user_id": "U1", "team_id": "T123ABC456"})
    return made


def switched_on(slack: AppHarness, **props: Any) -> TriggerHarness:
    harness = slack.trigger("new-message", signing_secret=SECRET, **props)
    harness.activate()
    return harness


def told(id: str = "Ev123ABC456", team: str = "T123ABC456", **message: Any) -> dict[str, Any]:
    """The wrapper of https://docs.slack.dev/reference/events/message."""
    event = {name: value for name, value in (MESSAGE | message).items() if value is not None}
    outer = {"token": "XXYYZZ", "team_id": team, "api_app_id": "A123ABC456", "type": "event_callback"}
    return outer | {"event": event, "event_id": id, "event_time": 1355517523}


def send(harness: TriggerHarness, body: Any, *, secret: str = SECRET, late_s: int = 0, **headers: str) -> Reply:
    raw, sent = json.dumps(body), str(int(time.time()) - late_s)
    digest = hmac.new(secret.encode(), f"v0:{sent}:{raw}".encode(), hashlib.sha256).hexdigest()
    return harness.receive(raw, {"X-Slack-Request-Timestamp": sent, "X-Slack-Signature": f"v0={digest}"} | headers)


def test_the_signature_is_the_one_of_the_reference() -> None:
    """The example of https://docs.slack.dev/authentication/verifying-requests-from-slack."""
    body = (
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    expected = "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    assert hmac_sha256(SECRET, f"v0:1531420618:{body}") == expected


def test_switching_on_tells_where_to_enter_the_address(slack: AppHarness) -> None:
    reply = slack.trigger("new-message", signing_secret=SECRET).activate()
    assert logged(reply) == (
        "Enter the trigger's own address in your Slack app, under Event Subscriptions, as the Request URL."
    )


def test_the_challenge_is_answered(slack: AppHarness) -> None:
    asked = {"token": "Jhj5dZrVaK7ZwHHjRyZWjbDl", "challenge": "3eZbrw1aBm2rZgRNFdxV", "type": "url_verification"}
    reply = send(switched_on(slack), asked)
    answer = HttpAnswer(200, '{"challenge":"3eZbrw1aBm2rZgRNFdxV"}', {"content-type": "application/json"})
    assert (reply.response, reply.events) == (answer, ())
    assert send(switched_on(slack), asked, secret="guessed").response == HttpAnswer(401, "The signature does not fit.")


def test_a_message_is_emitted_and_a_retry_has_its_id(slack: AppHarness) -> None:
    harness = switched_on(slack)
    reply = send(harness, told())
    (emitted,) = reply.events
    assert (emitted.event, emitted.id, emitted.summary) == (told(), "Ev123ABC456", "Hello world")
    assert (emitted.ts, reply.response) == (1355517523000, HttpAnswer(200, ""))
    retry: dict[str, Any] = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    assert [one.id for one in send(harness, told(), **retry).events] == [emitted.id]


@pytest.mark.parametrize(("late_s", "status"), [(290, 200), (310, 401), (-290, 200), (-310, 401)])
def test_the_signed_time_may_be_five_minutes_off(slack: AppHarness, late_s: int, status: int) -> None:
    reply = send(switched_on(slack), told(), late_s=late_s)
    assert reply.response is not None
    assert (reply.response.status, len(reply.events)) == (status, status == 200)


def test_a_forged_request_is_refused(slack: AppHarness) -> None:
    harness = switched_on(slack)
    for reply in (send(harness, told(), secret="guessed"), harness.receive(told(), {})):
        assert (reply.events, logged(reply)) == ((), TOLD)
        assert reply.response == HttpAnswer(401, "The signature does not fit.")


@pytest.mark.parametrize(
    ("props", "body", "taken"),
    [
        ({"channels": ["C123ABC456"]}, told(), True),
        ({"channels": ["C2"]}, told(), False),
        ({}, told(team="T2"), False),
        ({}, told(subtype="message_changed"), False),
        ({}, told(subtype="channel_join"), False),
        ({}, told(subtype="file_share"), True),
        ({}, told(subtype="bot_message", bot_id="B1", user=None), False),
        ({"bots": True}, told(subtype="bot_message", bot_id="B1", user=None), True),
        ({}, told(bot_id="B1"), False),
        ({}, told(type="reaction_added"), False),
    ],
)
def test_what_is_wanted(slack: AppHarness, props: dict[str, Any], body: dict[str, Any], taken: bool) -> None:
    reply = send(switched_on(slack, **props), body)
    assert (len(reply.events), reply.response) == (taken, HttpAnswer(200, ""))
