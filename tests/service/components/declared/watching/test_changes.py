"""What changed since the last look, by a token; and where the app has forgotten it, by the list itself."""

from typing import Any

from tests.service.catalog.components.providers.app_harness import Asked, FakeAnswer
from tests.service.catalog.components.trigger_harness import TriggerHarness, logged
from tests.service.components.declared.conftest import ACCOUNT, Desk
from tests.service.components.declared.test_triggers import HEAD, TIMER, notes, opened, told
from webapp.kit.clock import DAY, HOUR, iso
from webapp.service.components.declared.watching.changes import SLACK

AT = 1_893_456_000_000
LIST = 'order = "oldest"\nfirst = 2\nparams = { since = "{$since}" }\n'
LIST += 'pages = { by = "cursor", param = "page", next = "more" }\n'
SYNC = '[poll.sync]\nparam = "token"\nnext = "token"\nparams = { size = 9 }\nstart = { fields = "token" }\n'
TEXT = HEAD + ACCOUNT + TIMER + LIST + SYNC


def look(trigger: TriggerHarness, method: str = "run", at: int = AT) -> Any:
    reply = trigger.call(method, {"timestamp": at})
    assert reply.error is None, reply.error
    return reply


def answered(asked: Asked) -> Any:
    """The whole list has two pages, and a token behind them."""
    if asked.query.get("fields"):
        return {"token": "t1"} if asked.query.get("page") else {"more": "p2"}
    if "since" in asked.query:
        return {"notes": notes(1, 2, 3)[::-1]}
    if asked.query["token"] == "gone":
        return FakeAnswer(410, {})
    return {"notes": notes(4), "token": "t2"}


def test_examples_first_and_then_what_changed(desk: Desk) -> None:
    desk.on("GET /notes", answered)
    trigger = opened(desk, TEXT)
    assert told(look(trigger, "deploy").events) == ["2", "3"]
    assert [asked.query for asked in desk.provider.asked] == [
        {"fields": "token"}, {"fields": "token", "page": "p2"}, {"since": iso(AT - 14 * DAY)},
    ]  # fmt: skip
    assert told(look(trigger, at=AT + HOUR).events) == ["4"]
    assert desk.last.query == {"size": "9", "token": "t1"}
    assert trigger.state == {"token": "t2", "since": iso(AT + HOUR - SLACK)}


def test_what_the_app_has_forgotten_is_asked_of_the_list(desk: Desk) -> None:
    desk.on("GET /notes", answered)
    trigger = opened(desk, TEXT)
    trigger.state |= {"token": "gone", "since": iso(AT - HOUR)}
    reply = look(trigger)
    assert (told(reply.events), desk.last.query) == (["1", "2", "3"], {"since": iso(AT - HOUR)})
    assert "the list itself is looked at" in logged(reply)
    assert trigger.state["token"] == "t1"
    trigger.state |= {"token": "gone", "since": iso(AT - 90 * DAY)}
    look(trigger)
    assert desk.last.query == {"since": iso(AT - 14 * DAY)}
    trigger.state |= {"token": "gone", "since": ""}  # as one remembers that was code
    assert look(trigger).events == ()


def test_what_changed_too_long_ago_for_the_list_is_lost(desk: Desk) -> None:
    desk.on("GET /notes", lambda asked: FakeAnswer(410, {}) if "since" in asked.query else answered(asked))
    trigger = opened(desk, TEXT)
    trigger.state |= {"token": "gone", "since": iso(AT)}
    reply = look(trigger)
    assert reply.events == () and "from now on" in logged(reply)
    assert trigger.state["token"] == "t1"


def test_what_fails_forgets_nothing(desk: Desk) -> None:
    desk.on("GET /notes", FakeAnswer(503, {}))
    trigger = opened(desk, TEXT)
    trigger.state["token"] = "t1"
    assert "status 503" in trigger.refuses("run", {"timestamp": AT})
    desk.on("GET /notes", {"notes": notes(4)})
    assert "more than can be looked through" in trigger.refuses("run", {"timestamp": AT})
    assert trigger.state == {"token": "t1"}


def test_what_is_older_than_the_last_look_is_not_new(desk: Desk) -> None:
    desk.on("GET /notes", {"notes": notes(1, 7)[::-1], "token": "t2"})
    trigger = opened(desk, TEXT + 'new = "{$item.at}"\n')
    trigger.state |= {"token": "t1", "since": "2030-01-01T00:00:02.000Z"}
    assert told(look(trigger).events) == ["7"]
    assert told(look(opened(desk, TEXT + 'new = "{$item.at}"\n'), "deploy").events) == ["1", "7"]
