"""What a form's request is answered: JSON or XML, and neither where it is none.

Requests as they go out, and what the app says where it refuses.
"""

import json
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import FakeAnswer
from tests.service.components.declared.conftest import HEAD, Desk
from webapp.service.components.declared.form import Listing, Request
from webapp.service.components.declared.requests import read, read_or_none
from webapp.service.components.declared.session import Session
from webapp.service.components.errors import HttpError
from webapp.service.components.http import HttpResponse

JSON, XML = Request.model_validate({"url": "/x"}), Request.model_validate({"url": "/x", "answer": "xml"})
LIST = Listing.model_validate({"url": "/x", "answer": "xml", "items": "a.b"})
PROPS = """
[props.title]
type = "string"
label = "Title"
optional = true

[props.tags]
type = "string[]"
label = "Tags"
optional = true

[props.meta]
type = "object"
label = "Meta"
optional = true

[request]
method = "POST"
url = "/notes"
"""


def answered(body: bytes) -> HttpResponse:
    return HttpResponse(200, {}, body, "")


def test_json_and_xml_are_read_alike() -> None:
    assert read(JSON, answered(b'{"a": {"b": "1"}}')) == {"a": {"b": "1"}}
    assert read(XML, answered(b"<r><a><b>1</b></a></r>")) == {"a": {"b": "1"}}
    assert read(LIST, answered(b"<r><a><b>1</b></a></r>")) == {"a": {"b": ["1"]}}
    assert read(XML, answered(b"")) is None


def test_what_is_neither_is_reported_or_nothing() -> None:
    with pytest.raises(HttpError):
        read(XML, answered(b"<r>"))
    assert read_or_none(XML, answered(b"<r>")) is None
    assert read_or_none(JSON, answered(b"<html>")) is None


def test_query_and_headers(desk: Desk) -> None:
    desk.on("POST /notes", {"id": 1})
    sent = 'params = { q = "{title}", tag = "{tags}", m = "{meta}", on = true }\n'
    sent += 'headers = { X-A = "{title}", X-B = "{tags}" }'
    desk.run(PROPS + sent, title="a b", meta={"k": 1})
    assert desk.last.queries == {"q": ["a b"], "m[k]": ["1"], "on": ["true"]}
    assert (desk.last.headers["x-a"], desk.last.headers.get("x-b")) == ("a b", None)
    desk.run(PROPS + sent, tags=["x", "y"])
    assert desk.last.queries == {"tag": ["x", "y"], "on": ["true"]}


def test_bodies(desk: Desk) -> None:
    desk.on("POST /notes", {"id": 1})
    desk.run(PROPS + 'json = { title = "{title}", in = { tags = "{tags}" }, n = 0 }', title="a")
    assert desk.last.json == {"title": "a", "n": 0}
    desk.run(PROPS + 'json = { title = "{title}" }')
    assert desk.last.json == {}
    desk.run(PROPS + 'form = { title = "{title}", meta = "{meta}" }', title="a", meta={"k": "v"})
    assert desk.last.form == {"title": "a", "meta[k]": "v"}
    desk.run(PROPS + 'form = { meta = { list = "{meta.list}" } }', meta={"list": [{"a": 1}, {"a": 2}]})
    assert desk.last.form == {"meta[list][0][a]": "1", "meta[list][1][a]": "2"}
    desk.run(PROPS + 'text = "Note: {title}"', title="ä")
    assert (desk.last.body, desk.last.headers["content-type"]) == ("Note: ä".encode(), "text/plain; charset=utf-8")


def test_a_form_with_a_file(desk: Desk) -> None:
    desk.on("POST /notes", {"id": 1})
    form = '[request.multipart]\ntitle = "{title}"\nnone = "{tags}"\nfile = { file = "{title}", name = "b.txt" }\n'
    desk.call(PROPS + form, props={"title": "a.txt"}, files={"a.txt": "SGk="})
    assert desk.last.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert b'name="title"\r\n\r\na.txt\r\n' in desk.last.body
    assert b'name="file"; filename="b.txt"' in desk.last.body
    assert b"none" not in desk.last.body


@pytest.mark.parametrize(
    ("url", "title", "path"),
    [
        ("/notes/{title}", "a/b?c", "/notes/a%2Fb%3Fc"),
        ("/notes/{title|path}", "/a b/c?d", "/notes/a%20b/c%3Fd"),
        ("/notes?title={title}", "a&b", "/notes"),
    ],
)
def test_what_holes_of_an_address_hold_is_encoded(desk: Desk, url: str, title: str, path: str) -> None:
    desk.on(f"POST {path}", {"id": 1})
    assert desk.run(PROPS.replace('"/notes"', f'"{url}"'), title=title) == {"id": 1}


@pytest.mark.parametrize("title", ["..", ".", "a/../../b"])
def test_no_value_leads_out_of_its_place(desk: Desk, title: str) -> None:
    said = desk.refuses(PROPS.replace('"/notes"', '"/notes/{title|path}"'), title=title)
    assert said == "Title is not a name that can be used in an address."
    assert desk.provider.asked == []


def test_the_first_of_several_addresses_that_has_its_values(desk: Desk) -> None:
    desk.on("POST /notes/a", {"id": 1})
    desk.on("POST /notes", {"id": 2})
    text = PROPS.replace('"/notes"', '["/notes/{title}", "/notes"]')
    assert (desk.run(text, title="a"), desk.run(text)) == ({"id": 1}, {"id": 2})


def test_a_path_that_a_person_gives_is_no_address(desk: Desk) -> None:
    desk.refuses(PROPS.replace('"/notes"', '"{title}/notes"'), title="/admin")
    assert [asked.what for asked in desk.provider.asked] == ["POST /%2Fadmin/notes"]


def test_an_address_that_lacks_a_value(desk: Desk) -> None:
    said = desk.refuses(PROPS.replace('"/notes"', '"/notes/{title}"'))
    assert said == "Title is not chosen yet. Choose it first."


ERRORS = """
[errors]
message = "why.text"
code = "code"
failing = { path = "ok" }
other = "Tiny refused with {$answer.code|or('nothing')}."

[errors.words]
late = "Come back tomorrow, {$answer.who}."
429 = "Tiny takes no more for now."
"""

GRAPHQL = '[errors]\nmessage = "errors.0.message"\nfailing = { path = "errors", present = true }'

MUTATION = """
[errors]
failing = [{ path = "errors", present = true }, { path = "data.result.userErrors", present = true }]
other = "{$answer.errors.0.message|or($answer.data.result.userErrors.0.message)}"
"""


@pytest.mark.parametrize(
    ("errors", "status", "body", "sentence"),
    [
        ("", 404, {"message": "No such note"}, "The app answered with status 404: No such note"),
        ("", 500, {}, "The app answered with status 500."),
        (
            '[errors]\nmessage = "why.text"',
            400,
            {"why": {"text": "Because"}},
            "The app answered with status 400: Because",
        ),
        (ERRORS, 200, {"ok": False, "code": "late", "who": "Ada"}, "Come back tomorrow, Ada."),
        (ERRORS, 400, {"code": "early"}, "Tiny refused with early."),
        (ERRORS, 429, {}, "Tiny takes no more for now."),
        (GRAPHQL, 200, {"errors": [{"message": "No"}]}, "The app answered with status 200: No"),
        (MUTATION, 200, {"errors": [{"message": "No"}]}, "No"),
        (MUTATION, 200, {"data": {"result": {"userErrors": [{"message": "Taken"}]}}}, "Taken"),
        (ERRORS, 400, {}, "Tiny refused with nothing."),
        (ERRORS, 400, b"<html>Bad gateway</html>", "The app answered with status 400."),
        (ERRORS, 502, {"code": "early"}, "The app answered with status 502."),
        (ERRORS, 502, {"code": "late", "who": "Ada"}, "Come back tomorrow, Ada."),
    ],
)
def test_what_the_app_says(desk: Desk, errors: str, status: int, body: Any, sentence: str) -> None:
    desk.on("POST /notes", FakeAnswer(status, body))
    assert desk.refuses(PROPS + errors) == sentence


def test_a_status_that_counts_as_success(desk: Desk) -> None:
    desk.on("POST /notes", FakeAnswer(404, {"error": "gone"}))
    assert desk.run(PROPS + "allow = [404]\n") is None


def test_a_refused_credential_is_reported(desk: Desk) -> None:
    desk.provider.headers = {"Authorization": "Bearer another"}
    reply = desk.call(PROPS)
    assert (reply.refused, reply.repeatable) == (("tiny",), True)


def test_a_file_that_is_not_given_is_not_sent(desk: Desk) -> None:
    desk.on("POST /notes", {"id": 1})
    assert desk.run(PROPS + 'file = "{title}"\n') == {"id": 1}
    assert (desk.last.body, desk.last.headers.get("content-type")) == (b"", None)


def test_members_that_are_needed_are_sent_empty(desk: Desk) -> None:
    desk.on("POST /notes", {"id": 1})
    dates = 'start = { date = "{tags}" }, end = { date = "{tags}" }, text = "{title}"'
    desk.run(f'{PROPS}json = {{ {dates} }}\nneeded = ["start"]\n', title="Milk")
    assert json.loads(desk.last.body) == {"start": {}, "text": "Milk"}


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('json = { a = "{tags}" }\nbare = true\n', b""),
        ('json = "{meta}"\nbare = true\n', b""),
        ('json = { a = "{title}" }\nbare = true\n', b'{"a":"Milk"}'),
        ('json = { a = "{tags}" }\n', b"{}"),
    ],
)
def test_a_body_that_is_not_needed_is_not_sent_empty(written: str, sent: bytes, desk: Desk) -> None:
    desk.on("POST /notes", {"id": 1})
    desk.run(PROPS + written, title="Milk")
    assert desk.last.body.replace(b" ", b"") == sent


def test_all_that_is_answered_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.limits.OUTPUT_BYTES", 100)
    desk.on("GET /part", {"text": "x" * 40})
    desk.on("POST /notes", {"text": "x" * 60})
    step = '[[steps]]\nname = "part"\nurl = "/part"\n'
    result = "[result]\nid = 1\n"
    assert desk.run(PROPS + result) == {"id": 1}
    reply = desk.call(PROPS + result + step)
    assert reply.error is not None
    assert (reply.error.kind, reply.error.message) == ("result", "The app answered with more than 6 MiB. Ask for less.")


def test_what_is_looked_up_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.limits.OUTPUT_BYTES", 100)
    desk.on("GET /titles", {"rows": [], "text": "x" * 60})
    lookup = '[props.title.options]\nurl = "/titles"\nitems = "rows"\nvalue = "{$item}"\n'
    pages = '[props.title.options.pages]\nby = "page"\nparam = "page"\nsize_param = "size"\n'
    text = PROPS.replace("[props.tags]", f"{lookup}{pages}[props.tags]")
    assert desk.options(text, "title")["offers"] == {}
    desk.on("GET /titles", {"rows": [], "text": "x" * 100})
    reply = desk.call(text, method="options", prop="title")
    assert reply.error is not None
    assert reply.error.message == "The app answered with more than 6 MiB. Ask for less."


def test_a_kept_file_may_be_as_large_as_the_stash_takes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.limits.OUTPUT_BYTES", 100)
    desk.on("POST /notes", b"x" * 200)
    reply = desk.call(PROPS, head=HEAD + 'file = "note.txt"\n', stash=True)
    assert (reply.error, reply.files[0].content) == (None, b"x" * 200)


def test_no_more_is_read_of_an_answer_than_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.limits.OUTPUT_BYTES", 100)
    read: list[int] = []
    monkeypatch.setattr(Session, "count_answer", lambda session, answer: read.append(len(answer.body)))
    desk.on("POST /notes", b" " * 1_000)
    desk.call(PROPS)
    assert read == [101]
