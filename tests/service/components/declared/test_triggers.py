"""Declared triggers: what is new in a list is emitted once, and what a webhook tells if its app signed it."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import Asked, FakeAnswer
from tests.service.catalog.components.trigger_harness import ENDPOINT, TriggerHarness, logged
from tests.service.components.declared.conftest import ACCOUNT, Desk
from webapp.service.components.calls import Emitted
from webapp.service.components.declared.declaring import examine
from webapp.service.components.runner import Executor, Runner

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
BY_BODY = HEAD.replace("$item", "$event.body") + 'time = "{$event.body.at}"\nevent = { note = "{$event.body}" }\n'


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


def test_a_secret_that_the_app_makes_and_a_webhook_that_is_renewed(desk: Desk) -> None:
    renewed = HTTP.replace("[webhook]\n", '[webhook]\nsecret = "{$answer.secret}"\nid = "hook-{$answer.id}"\n')
    renewed += '[webhook.renew]\nmethod = "PUT"\nurl = "/hooks/{$hook}"\n'
    renewed += '[props.timer]\ntype = "$.interface.timer"\ndefault = { intervalSeconds = 3600 }\n'
    trigger = opened(desk, BY_BODY + ACCOUNT + renewed)
    desk.on("POST /hooks", {"id": 12, "secret": "theirs"})
    assert trigger.tick() == []
    assert desk.provider.asked == []
    trigger.activate()
    assert (trigger.state["hook"], trigger.state["secret"]) == ("hook-12", "theirs")
    desk.on("PUT /hooks/hook-12", {})
    assert trigger.tick() == []
    assert desk.last.what == "PUT /hooks/hook-12"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (TIMER.replace("timer]", "timer]\nlabel = 3"), "props.timer.label: input should be a valid string"),
        (TIMER.replace('type = "$.interface.timer"', 'type = "integer"\nlabel = "T"'), "a trigger with [poll] needs"),
        (HTTP.replace("$.interface.http", "$.service.db"), "a trigger with [webhook] needs"),
        (TIMER.replace("60", "0"), "intervalSeconds that is not a whole number"),
        ("", "a trigger has either [poll] or [webhook]"),
    ],
)
def test_a_mistake_in_a_trigger(desk: Desk, text: str, sentence: str) -> None:
    problems = examine(write(desk, HEAD + ACCOUNT + text))[1]
    assert sentence in "\n".join(problems)
