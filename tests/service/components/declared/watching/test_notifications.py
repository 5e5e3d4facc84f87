"""What a request asks for by which an app tells of news; without the secret, nothing."""

from typing import Any

import pytest

from webapp.service.components.declared.trigger_form import Push
from webapp.service.components.declared.watching.notifications import Notification, challenge_answer, read

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
