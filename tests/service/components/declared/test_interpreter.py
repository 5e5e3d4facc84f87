"""Calls of declared components: what comes of them, and that a failure is part of the reply."""

import base64
from pathlib import Path

import pytest

from tests.service.catalog.components.providers.app_harness import FakeAnswer
from tests.service.components.declared.conftest import HEAD, Desk
from webapp.service.components.calls import Call
from webapp.service.components.declared.interpreter import Interpreter

GET = '[request]\nurl = "/notes"\n'


def test_the_result_is_the_answer_unless_said(desk: Desk) -> None:
    desk.on("GET /notes", {"id": 1, "rows": [1, 2]})
    reply = desk.call(GET + '[exports]\nfirst = "{$answer.rows.0}"\nnone = "{$answer.none}"\n')
    assert reply.value == {"id": 1, "rows": [1, 2]}
    assert reply.exports == {"$summary": "Added 1", "first": 1, "none": None}
    head = HEAD + 'result = { rows = "{$answer.rows}", none = "{$answer.none}" }\n'
    assert desk.call(GET, head).value == {"rows": [1, 2], "none": None}


def test_steps_values_and_a_reason_to_refuse(desk: Desk) -> None:
    text = """
[props.title]
type = "string"
label = "Title"

[[steps]]
name = "old"
url = "/notes/{title}"
allow = [404]
result = "{$answer.id}"

[[steps]]
name = "never"
only_if = "{$steps.old|is('x')}"
url = "/never"

[values]
both = ["{title}", "{$steps.old}"]

[[refuse]]
only_if = "{$steps.old|is('locked')}"
words = "{title} is locked."

[request]
method = "PUT"
url = "/notes/{title}"
json = { text = "{$values.both|join('-')}" }
"""
    desk.on("PUT /notes/a", {"id": 2})
    desk.on("GET /notes/a", FakeAnswer(404, {"id": "wrong"}))
    desk.run(text, title="a")
    assert desk.last.json == {"text": "a"}
    desk.on("GET /notes/a", {"id": "7"})
    desk.run(text, title="a")
    assert desk.last.json == {"text": "a-7"}
    desk.on("GET /notes/a", {"id": "locked"})
    assert desk.refuses(text, title="a") == "a is locked."


def test_an_answer_that_is_a_file(desk: Desk) -> None:
    desk.on("GET /notes", FakeAnswer(200, b"%PDF", {"Content-Type": "application/pdf"}))
    head = HEAD.replace("{$answer.id}", "{$file.name}") + "file = \"../{tiny|or('note.pdf')}\"\n"
    reply = desk.call(GET, head, stash=True)
    assert [(file.name, file.content) for file in reply.files] == [("note.pdf", b"%PDF")]
    assert reply.value == {"name": "note.pdf", "size": 4, "content_type": "application/pdf"}
    assert reply.exports["$summary"] == "Added note.pdf"
    assert desk.call(GET, head).files == ()
    assert desk.interpreter.call(Call(str(desk.write(GET, head=head)), method="declare")).value["stash"] == "optional"


def test_the_account_is_used_and_its_refusal_told(desk: Desk) -> None:
    text = '[[steps]]\nname = "one"\nmethod = "POST"\nurl = "/notes"\n' + GET
    desk.on("POST /notes", {})
    desk.on("GET /notes", FakeAnswer(401, {"message": "Expired"}))
    reply = desk.call(text)
    assert reply.error is not None
    assert (reply.error.status, reply.refused, reply.repeatable) == (401, ("tiny",), False)
    assert desk.call(GET).repeatable


def test_failures_are_part_of_the_reply(tmp_path: Path, desk: Desk) -> None:
    reply = Interpreter().call(Call(str(tmp_path / "none.toml")))
    assert reply.error is not None
    assert (reply.error.kind, reply.error.message[:25]) == ("load", "There is no readable file")
    declared = Interpreter().call(Call(str(desk.write("[request]\nurl = 1\n")), method="declare"))
    assert [problem.partition(": ")[2] for problem in declared.value["problems"]] == [
        "request.url: input should be a valid string."
    ]
    desk.on("GET /notes", FakeAnswer(200, b"<html>"))
    assert "web page instead of JSON" in desk.refuses(GET)


def test_a_result_has_a_size(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.limits.OUTPUT_BYTES", 150)
    desk.on("GET /notes", {"id": base64.b64encode(b"x" * 20).decode()})
    often = '{ all = ["{$answer}", "{$answer}", "{$answer}", "{$answer}"] }'
    assert desk.call(GET).error is None
    for more in (f"result = {often}\n", f'result = ""\nexports = {often}\n'):
        reply = desk.call(GET, HEAD + more)
        assert reply.error is not None
        assert (reply.error.kind, reply.value) == ("output", None)
        assert "all" not in reply.exports


def test_a_summary_is_a_line(desk: Desk) -> None:
    desk.on("GET /notes", {"id": "long " * 1_000})
    assert len(desk.call(GET).exports["$summary"]) == 500


def test_what_took_effect_does_not_fail_by_what_json_cannot_carry(desk: Desk) -> None:
    desk.on("GET /notes", FakeAnswer(200, b'{"id": 18446744073709551616, "rows": [1, "\\ud800"], "far": -9e99}'))
    reply = desk.call(GET)
    assert reply.error is None, reply.error
    assert reply.value == {"id": 2.0**64, "rows": [1, "?"], "far": -9e99}
    assert reply.exports["$summary"] == "Added 18446744073709551616"
