"""What changed since the last look, by a token; and where the app has forgotten it, by the list itself.

Declared triggers: what is new in a list is emitted once, and what a webhook tells if its app signed it.
"""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import Asked, FakeAnswer
from tests.service.catalog.components.trigger_harness import ENDPOINT, TriggerHarness, logged
from tests.service.components.declared.conftest import ACCOUNT, Desk
from webapp.kit.clock import DAY, HOUR, iso
from webapp.service.components.calls import Emitted
from webapp.service.components.declared.definition import examine
from webapp.service.components.declared.triggers import SLACK
from webapp.service.components.executor import Executor
from webapp.service.components.runner import Runner

AT = 1_893_456_000_000
LIST = 'order = "oldest"\nfirst = 2\nparams = { since = "{$since}" }\n'
HEAD = """
name = "New note"
version = "1.0.0"
description = "Each note."
id = "{$item.id}"
summary = "{$item.text}"
"""
TIMER = """
[props.timer]
type = "$.interface.timer"
default = { intervalSeconds = 60 }

[props.db]
type = "$.service.db"

[poll]
url = "/notes"
items = "notes"
"""
HTTP = """
[props.http]
type = "$.interface.http"

[props.db]
type = "$.service.db"

[webhook]
accept = { "headers.x-kind" = "note", "body.state" = ["new", "open"] }

[webhook.subscribe]
method = "POST"
url = "/hooks"
json = { url = "{$endpoint}", secret = "{$secret}" }

[webhook.unsubscribe]
method = "DELETE"
url = "/hooks/{$hook}"

[webhook.signature]
header = "X-Sig"
"""
HEARD = """
[props.hook]
type = "$.interface.apphook"

[apphook]
events = ["note.made", "note.changed"]
accept = { "body.state" = ["new", "open"] }
"""
PUSHED = (
    TIMER
    + """
[props.http]
type = "$.interface.http"

[push]
lasts = 3600
token = "{$event.headers.x-token}"
subscribe = { method = "POST", url = "/hooks" }
unsubscribe = { method = "DELETE", url = "/hooks/{$hook}" }
"""
)
BY_BODY = HEAD.replace("$item", "$event.body") + 'time = "{$event.body.at}"\nevent = { note = "{$event.body}" }\n'


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
    assert "the list itself is read" in logged(reply)
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
    assert "more than can be searched" in trigger.refuses("run", {"timestamp": AT})
    assert trigger.state == {"token": "t1"}


def test_what_is_older_than_the_last_look_is_not_new(desk: Desk) -> None:
    desk.on("GET /notes", {"notes": notes(1, 7)[::-1], "token": "t2"})
    trigger = opened(desk, TEXT + 'new = "{$item.at}"\n')
    trigger.state |= {"token": "t1", "since": "2030-01-01T00:00:02.000Z"}
    assert told(look(trigger).events) == ["7"]
    assert told(look(opened(desk, TEXT + 'new = "{$item.at}"\n'), "deploy").events) == ["1", "7"]


def write(desk: Desk, text: str) -> Path:
    path = desk.folder / "tiny" / "triggers" / "new-note.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def opened(desk: Desk, text: str, **props: Any) -> TriggerHarness:
    path = write(desk, text)
    assert examine(path)[1] == []
    return TriggerHarness(Executor(Runner.start()), path, props, {"tiny": desk.grant}, (desk.host,))


def told(events: list[Emitted]) -> list[str | None]:
    return [event.id for event in events]


def notes(*numbers: int) -> list[dict[str, Any]]:
    """Newest first; odd ones bear the time of the one before."""
    rows = [
        {"id": number, "text": f"Note {number}", "at": f"2030-01-01T00:00:{number // 2:02d}Z"} for number in numbers
    ]
    return sorted(rows, key=lambda row: -int(str(row["id"])))


@pytest.mark.parametrize("time", ["", 'time = "{$item.at}"\n'])
def test_what_is_new_is_emitted_once_and_the_oldest_first(desk: Desk, time: str) -> None:
    trigger = opened(desk, HEAD + time + ACCOUNT + TIMER + "first = 2\n")
    desk.on("GET /notes", {"notes": notes(1, 2, 3, 4)})
    examples = trigger.deploy()
    assert [(event.id, event.summary, event.event["id"]) for event in examples] == [
        ("3", "Note 3", 3),
        ("4", "Note 4", 4),
    ]
    assert trigger.tick() == []
    desk.on("GET /notes", {"notes": notes(3, 4, 5, 6, 7)})
    assert told(trigger.tick()) == ["5", "6", "7"]
    assert trigger.tick() == []
    if time:
        assert examples[0].ts == 1_893_456_001_000


@pytest.mark.parametrize("time", ["", 'time = "{$item.at}"\n'])
def test_fewer_than_the_first_are_all_examples(desk: Desk, time: str) -> None:
    trigger = opened(desk, HEAD + time + ACCOUNT + TIMER + "first = 5\n")
    desk.on("GET /notes", {"notes": notes(1, 2, 3, 4)})
    assert told(trigger.deploy()) == ["1", "2", "3", "4"]


PAGED = 'pages = { by = "page", param = "page", size_param = "size", size = 2 }\n'


@pytest.mark.parametrize("more", [TIMER, TIMER + 'order = "oldest"\n'])
@pytest.mark.parametrize("time", ["", 'time = "{$item.at}"\n'])
def test_what_is_on_later_pages_at_first_is_not_new(desk: Desk, time: str, more: str) -> None:
    rows = notes(1, 2, 3, 4, 5)
    if "oldest" in more:
        rows.reverse()
    desk.on("GET /notes", lambda asked: _paged(rows, asked))
    trigger = opened(desk, HEAD + time + ACCOUNT + more + "first = 2\n" + PAGED)
    assert told(trigger.deploy()) == ["4", "5"]
    assert trigger.tick() == []
    rows.insert(len(rows) if "oldest" in more else 0, notes(6)[0])
    assert told(trigger.tick()) == ["6"]


def _paged(rows: list[dict[str, Any]], asked: Asked) -> Any:
    start = (int(asked.query["page"]) - 1) * 2
    return {"notes": rows[start : start + 2]}


def test_all_of_a_long_list_is_remembered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.declared.triggers.REMEMBERED", 3)
    trigger = opened(desk, HEAD + ACCOUNT + TIMER)
    desk.on("GET /notes", {"notes": notes(1, 2, 3, 4, 5)})
    trigger.deploy()
    desk.on("GET /notes", {"notes": notes(1, 2, 3, 4, 6)})
    assert told(trigger.tick()) == ["6"]
    assert trigger.tick() == []
    desk.on("GET /notes", {"notes": notes(6)})
    trigger.tick()
    assert trigger.state["seen"] == ["1", "2", "3", "4", "6"]


def test_the_app_is_asked_for_what_came_since(desk: Desk) -> None:
    trigger = opened(
        desk, HEAD + 'time = "{$item.at}"\n' + ACCOUNT + TIMER + 'first = 0\nparams = { since = "{$since}" }\n'
    )
    desk.on("GET /notes", {"notes": notes(1, 2)})
    assert trigger.deploy() == []
    assert desk.last.query == {}
    trigger.tick()
    assert desk.last.query == {"since": "2030-01-01T00:00:01Z"}


def test_times_that_are_numbers_sort_as_numbers(desk: Desk) -> None:
    trigger = opened(desk, HEAD + 'time = "{$item.at}"\n' + ACCOUNT + TIMER + 'order = "oldest"\n')
    desk.on("GET /notes", {"notes": [{"id": 1, "text": "a", "at": 9}, {"id": 2, "text": "b", "at": 10}]})
    assert told(trigger.deploy()) == ["1", "2"]
    desk.on("GET /notes", {"notes": [{"id": 2, "text": "b", "at": 10}, {"id": 3, "text": "c", "at": 100}]})
    assert told(trigger.tick()) == ["3"]


def test_a_look_that_fails_forgets_nothing(desk: Desk) -> None:
    trigger = opened(desk, HEAD + ACCOUNT + TIMER)
    desk.on("GET /notes", {"notes": notes(1)})
    trigger.deploy()
    desk.on("GET /notes", FakeAnswer(503, {"message": "Later"}))
    assert trigger.refuses("run") == "The app answered with status 503: Later"
    desk.on("GET /notes", {"notes": notes(1, 2)})
    assert told(trigger.tick()) == ["2"]


def deliver(trigger: TriggerHarness, body: Any, secret: str | None = None, kind: str = "note") -> Any:
    raw = json.dumps(body)
    digest = hmac.new((secret or trigger.state["secret"]).encode(), raw.encode(), hashlib.sha256).hexdigest()
    return trigger.receive(raw, {"X-Sig": digest, "X-Kind": kind})


def test_a_webhook_from_its_beginning_to_its_end(desk: Desk) -> None:
    trigger = opened(desk, BY_BODY + ACCOUNT + HTTP)
    assert (examine(trigger.path)[0] or {})["hooks"] == ["activate", "deactivate"]
    note = {"id": 7, "text": "Tea", "state": "new", "at": 1_896_076_800}
    assert "before the webhook was in place" in trigger.refuses("run", {"headers": {}, "body": note, "bodyRaw": ""})

    desk.on("POST /hooks", {"id": 12})
    trigger.activate()
    assert desk.last.json == {"url": ENDPOINT, "secret": trigger.state["secret"]}
    assert (trigger.state["hook"], len(trigger.state["secret"])) == ("12", 43)

    (event,) = deliver(trigger, note).events
    assert (event.id, event.summary, event.ts, event.event) == ("7", "Tea", 1_896_076_800_000, {"note": note})
    assert deliver(trigger, note | {"state": "done"}).events == ()
    assert deliver(trigger, note, kind="user").events == ()
    forged = deliver(trigger, note, secret="wrong")
    assert (forged.events, "signature is not the one of the app" in logged(forged)) == ((), True)

    desk.on("DELETE /hooks/12", FakeAnswer(500, {}))
    assert "status 500" in trigger.refuses("deactivate")
    desk.on("DELETE /hooks/12", FakeAnswer(404, {}))
    trigger.deactivate()
    assert (trigger.state["hook"], trigger.state["secret"]) == (None, None)
    count = len(desk.provider.asked)
    trigger.deactivate()
    assert len(desk.provider.asked) == count


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (TIMER.replace("timer]", "timer]\nlabel = 3"), "props.timer.label: input should be a valid string"),
        (TIMER.replace('type = "$.interface.timer"', 'type = "integer"\nlabel = "T"'), "a trigger with [poll] needs"),
        (HTTP.replace("$.interface.http", "$.service.db"), "a trigger with [webhook] needs"),
        (TIMER.replace("60", "0"), "intervalSeconds that is not a whole number"),
        ("", "a trigger has either [poll], [webhook] or [apphook]"),
        (PUSHED.replace("[poll]", "[webhook]"), "webhook.subscribe: it is missing"),
        (PUSHED.replace("$.interface.http", "integer"), "a trigger with [push] needs one prop of the type $.interface"),
        (HEARD + PUSHED.partition("[push]")[1] + PUSHED.partition("[push]")[2], "so the two belong together"),
        (PUSHED + 'challenge = { only_if = "a", secret = "b" }\n', "push: a push answers a challenge with a text"),
        (HTTP + '[webhook.renew]\nurl = "/hooks"\n', "renew and ends need lasts"),
        (HEARD.replace("$.interface.apphook", "$.service.db"), "a trigger with [apphook] needs one prop of the type"),
    ],
)
def test_a_mistake_in_a_trigger(desk: Desk, text: str, sentence: str) -> None:
    problems = examine(write(desk, HEAD + ACCOUNT + text))[1]
    assert sentence in "\n".join(problems)


SEVERAL = (
    HTTP.replace('type = "$.interface.http"', 'type = "$.interface.http"\ncustom_response = true')
    .replace(
        "[webhook]",
        """[webhook]
items = "{$event.body.changes}"
challenge = { only_if = "{$event.body.challenge}", answer = "{$event.body.challenge}" }
""",
    )
    .replace(
        'accept = { "headers.x-kind" = "note", "body.state" = ["new", "open"] }',
        """
[[webhook.steps]]
name = "team"
url = "/me"
""",
    )
    .replace("/hooks", "/{$steps.team.id}/hooks", 1)
)


def test_several_events_of_one_request_and_a_challenge(desk: Desk) -> None:
    desk.on("GET /me", {"id": "t1"})
    desk.on("POST /t1/hooks", {"id": 7})
    trigger = opened(desk, HEAD + ACCOUNT + SEVERAL)
    asked = trigger.receive({"challenge": "abc"}, {})
    assert (asked.response and (asked.response.status, asked.response.body), asked.events) == ((200, "abc"), ())
    trigger.activate()
    body = json.dumps({"changes": [{"id": 1, "text": "A"}, {"id": 2, "text": "B"}]})
    digest = hmac.new(trigger.state["secret"].encode(), body.encode(), hashlib.sha256).hexdigest()
    reply = trigger.receive(body, {"X-Sig": digest})
    assert [(event.id, event.summary, event.event["text"]) for event in reply.events] == [
        ("1", "A", "A"),
        ("2", "B", "B"),
    ]
    assert reply.response and reply.response.status == 200
    forged = trigger.receive(body, {"X-Sig": "0"})
    assert (forged.events, forged.response and forged.response.status) == ((), 401)
    nothing = json.dumps({"changes": None})
    digest = hmac.new(trigger.state["secret"].encode(), nothing.encode(), hashlib.sha256).hexdigest()
    assert trigger.receive(nothing, {"X-Sig": digest}).events == ()


BROUGHT = SEVERAL.replace(
    'challenge = { only_if = "{$event.body.challenge}", answer = "{$event.body.challenge}" }',
    'challenge = { only_if = "{$event.headers.x-secret}", secret = "{$event.headers.x-secret}", '
    'headers = { X-Secret = "{$event.headers.x-secret}" } }',
)


def test_a_secret_that_comes_with_the_challenge_stays_as_long_as_the_webhook(desk: Desk) -> None:
    desk.on("GET /me", {"id": "t1"})
    desk.on("POST /t1/hooks", {"id": 7})
    trigger = opened(desk, HEAD + ACCOUNT + BROUGHT)
    tried = trigger.receive({}, {"X-Secret": "theirs"}).response  # before the webhook is answered
    assert tried and (tried.status, tried.body, tried.headers["X-Secret"]) == (200, "", "theirs")
    trigger.activate()
    assert (trigger.state["hook"], trigger.state["secret"]) == ("7", "theirs")
    assert "secret" not in (desk.last.json or {})
    forged = trigger.receive({}, {"X-Secret": "forged"})
    assert forged.response and (forged.response.status, forged.response.headers.get("X-Secret")) == (401, None)
    again = trigger.receive({}, {"X-Secret": "theirs"}).response
    assert again and (again.status, trigger.state["secret"]) == (200, "theirs")
    body = {"changes": [{"id": 1, "text": "A"}]}
    assert told(list(deliver(trigger, body, secret="forged").events)) == []
    assert told(list(deliver(trigger, body).events)) == ["1"]
    desk.on("DELETE /hooks/7", {})
    trigger.deactivate()
    anew = trigger.receive({}, {"X-Secret": "next"}).response
    assert anew and (anew.status, trigger.state["secret"]) == (200, "next")


def test_a_challenge_needs_somebody_who_answers(desk: Desk) -> None:
    (problem,) = examine(write(desk, HEAD + ACCOUNT + SEVERAL.replace("custom_response = true", "")))[1]
    assert "the prop for requests needs custom_response = true to answer it." in problem


def test_events_of_an_app_are_emitted_where_they_are_accepted(desk: Desk) -> None:
    trigger = opened(desk, BY_BODY + ACCOUNT + HEARD)
    note = {"id": 7, "text": "Hi", "at": "2030-01-01T00:00:00Z", "state": "open"}
    (event,) = trigger.receive(note, {}).events
    assert (event.id, event.summary, event.ts, event.event) == ("7", "Hi", 1_893_456_000_000, {"note": note})
    assert trigger.receive(note | {"state": "shut"}, {}).events == ()
    declared = examine(trigger.path)[0] or {}
    (hook,) = [prop for prop in declared["configurable_props"] if prop["type"] == "$.interface.apphook"]
    assert (hook["appProp"], hook["eventNames"]) == ("tiny", ["note.made", "note.changed"])
    assert (declared["hooks"], desk.provider.asked) == ([], [])
