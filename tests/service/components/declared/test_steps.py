"""Requests beside the main one: before options, props that follow and polls, behind a page of options, and about what
a trigger is told."""

from typing import Any

from tests.service.catalog.components.providers.app_harness import Asked, FakeAnswer
from tests.service.components.declared.conftest import ACCOUNT, Desk
from tests.service.components.declared.test_triggers import HEAD, HEARD, opened, told

REQUEST = '\n[request]\nurl = "/notes"\n'
STEPS = """
[props.chat]
type = "string"
label = "Chat"
use_query = true

[props.chat.options]
url = "/teams/{$steps.team}/chats"
items = "rows"
label = "{$steps.people|where('id', $item.user)|at(0)|member('nick', 'name')|or($item.name)}"
value = "{$item.id}"
pages = { by = "cursor", param = "after", next = "next" }

[[props.chat.options.steps]]
name = "team"
url = "/me"
result = "{$answer.team}"

[[props.chat.options.after]]
name = "people"
only_if = "{$items|where('direct', true)}"
url = "/people"
result = "{$answer.people}"
"""
PEOPLE = {"people": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob", "nick": "B"}]}
FIELDS = """
[props.table]
type = "string"
label = "Table"
reload_props = true

[reload]
url = "/bases/{table}/{$steps.base}"
items = "{$answer.tables|where('id', table)|each('fields')|at(0)}"
name = "{$item.id}"
key = "{$item.id}"

[[reload.steps]]
name = "base"
url = "/base"
result = "{$answer.id}"

[reload.kinds."*"]
label = "{$item.name}"
write = "{$value|number}"
pattern = "[0-9]+"
advice = "{$value} is not a number."

[request]
method = "POST"
url = "/notes"
json = { fields = "{$fields}" }
"""


def chats(asked: Asked) -> Any:
    if asked.query.get("after"):
        return {"rows": [{"id": "c3", "direct": True, "user": 2}, {"id": "c4", "direct": True, "user": 3, "name": "?"}]}
    return {"rows": [{"id": "c1", "name": "General"}, {"id": "c2", "direct": True, "user": 1}], "next": "2"}


def asked(desk: Desk) -> list[str]:
    return [request.what for request in desk.provider.asked]


def test_options_by_several_requests(desk: Desk) -> None:
    desk.on("GET /me", {"team": "t1"})
    desk.on("GET /teams/t1/chats", chats)
    desk.on("GET /people", PEOPLE)
    found = desk.options(STEPS + REQUEST, "chat")
    assert found == {"offers": {"General": "c1", "Ada": "c2"}, "context": {"cursor": "2"}}
    assert asked(desk) == ["GET /me", "GET /teams/t1/chats", "GET /people"]
    assert desk.options(STEPS + REQUEST, "chat", query="b")["offers"] == {"B": "c3"}
    assert asked(desk).count("GET /people") == 2  # once for each call, however many pages


def test_a_step_that_nothing_asks_for_is_left_out(desk: Desk) -> None:
    desk.on("GET /me", {"team": "t1"})
    desk.on("GET /teams/t1/chats", {"rows": [{"id": "c1", "name": "General"}]})
    assert desk.options(STEPS + REQUEST, "chat")["offers"] == {"General": "c1"}
    assert asked(desk) == ["GET /me", "GET /teams/t1/chats"]


def test_props_that_follow_from_what_an_answer_holds_deep_inside(desk: Desk) -> None:
    fields = [{"id": "f1", "name": "Count"}, {"id": "f2", "name": "Size"}]
    desk.on("GET /base", {"id": "b1"})
    desk.on("GET /bases/t2/b1", {"tables": [{"id": "t1", "fields": []}, {"id": "t2", "fields": fields}]})
    reply = desk.call(FIELDS, method="reload", props={"table": "t2"})
    assert reply.error is None
    assert [(prop["name"], prop.get("label")) for prop in reply.value[2:]] == [("f1", "Count"), ("f2", "Size")]
    desk.on("POST /notes", {"id": 1})
    desk.run(FIELDS, table="t2", f1="12")
    assert desk.last.json == {"fields": {"f1": 12}}
    assert desk.refuses(FIELDS, table="t2", f1="many") == "many is not a number."


INSTEAD = """
[errors]
code = "error"
failing = { path = "ok" }
other = "Refused with {$answer.error}."

[props.kinds]
type = "string[]"
label = "Kinds"
optional = true

[request]
method = "POST"
url = "/list"
form = { kinds = "{kinds|join(',')}", limit = 2 }
items = "rows"

[request.pages]
by = "cursor"
param = "cursor"
next = "next"
place = "form"

[request.instead]
code = "missing"
place = "form"
fields = { kinds = "{kinds|among($answer.provided)|join(',')}" }
"""


def test_what_is_refused_is_asked_for_otherwise(desk: Desk) -> None:
    def listed(asked: Asked) -> Any:
        if "b" in asked.form["kinds"]:
            return FakeAnswer(200, {"ok": False, "error": "missing", "provided": "a,c"})
        return {"ok": True, "rows": [asked.form], "next": "" if "cursor" in asked.form else "2"}

    desk.on("POST /list", listed)
    first = {"kinds": "a,c", "limit": "2"}
    assert desk.run(INSTEAD, kinds=["a", "b", "c"]) == [first, {**first, "cursor": "2"}]
    assert asked(desk) == ["POST /list"] * 4
    assert desk.refuses(INSTEAD, kinds=["b"]) == "Refused with missing."
    desk.on("POST /list", {"ok": False, "error": "missing", "provided": "a"})
    assert desk.refuses(INSTEAD, kinds=["a", "b"]) == "Refused with missing."
    desk.on("POST /list", {"ok": False, "error": "other", "provided": "a"})
    assert desk.refuses(INSTEAD, kinds=["a", "b"]) == "Refused with other."
    assert asked(desk) == ["POST /list"] * 8


def test_what_stands_for_each_item(desk: Desk) -> None:
    desk.on("GET /notes", {"rows": [{"id": 1, "text": {"plain": "One"}}, {"id": 2}]})
    request = '\n[request]\nurl = "/notes"\nitems = "rows"\n'
    shaped = 'id = "{$item.id}"\ntitle = "{$item.text.plain|or(\'Untitled\')}"\n'
    assert desk.run(f"[each]\n{shaped}{request}") == [{"id": 1, "title": "One"}, {"id": 2, "title": "Untitled"}]


DETAILED = (
    HEAD.replace("$item.id", "$event.body.id").replace("$item.text", "$steps.note.text")
    + 'event = "{$steps.note}"\n'
    + ACCOUNT
    + HEARD
    + """
[[apphook.details]]
name = "note"
url = "/notes/{$event.body.id}"
params = { by = "{$event.body.by}" }
allow = [404]
where = { kind = ["note", "task"] }

[[apphook.details]]
name = "author"
url = "/people/{$steps.note.author}"
only_if = "{$steps.note.author}"
"""
)


def test_what_is_asked_for_besides_is_emitted_and_what_is_not_wanted_is_left_out(desk: Desk) -> None:
    trigger = opened(desk, DETAILED)
    note = {"id": 7, "text": "Tea", "kind": "note"}
    desk.on("GET /notes/7", note)
    (event,) = trigger.receive({"id": 7, "by": "ada", "state": "open"}, {}).events
    assert (event.id, event.summary, event.event) == ("7", "Tea", note)
    assert [(asked.what, asked.query) for asked in desk.provider.asked] == [("GET /notes/7", {"by": "ada"})]
    desk.on("GET /notes/7", FakeAnswer(404, {}))
    assert told(list(trigger.receive({"id": 7, "state": "open"}, {}).events)) == []
    desk.on("GET /notes/7", note | {"kind": "page"})
    assert told(list(trigger.receive({"id": 7, "state": "open"}, {}).events)) == []
    desk.on("GET /notes/7", note | {"author": "u1"})
    desk.on("GET /people/u1", {"name": "Ada"})
    assert told(list(trigger.receive({"id": 7, "state": "open"}, {}).events)) == ["7"]
    assert desk.last.what == "GET /people/u1"


def test_an_app_that_cannot_be_asked_now_is_asked_again_later(desk: Desk) -> None:
    trigger = opened(desk, DETAILED)
    desk.on("GET /notes/7", FakeAnswer(503, {"message": "Later"}))
    event = {"headers": {}, "body": {"id": 7, "state": "open"}, "bodyRaw": ""}
    assert trigger.refuses("run", event) == "The app answered with status 503: Later"
