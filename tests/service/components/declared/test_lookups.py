"""Cursors of options that go out to a caller and come back.

What a prop offers, and props that follow from a request.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import Asked, FakeAnswer
from tests.service.components.declared.conftest import TOKEN, Desk

FOLDERS = [{"id": number, "name": f"Folder {number}"} for number in range(1, 8)]
FOLDER = """
[props.folder]
type = "integer"
label = "Folder"
use_query = true

[props.folder.options]
url = "/folders"
items = "rows"
label = "{$item.name}"
value = "{$item.id}"
"""
REQUEST = '\n[request]\nurl = "/notes"\n'
CURSOR = 'pages = { by = "cursor", param = "after", next = "next" }'
PAGES = 'pages = { by = "page", param = "page", size_param = "size", size = 3 }'


BY_URL = FOLDER + 'pages = { by = "url", next = "next" }' + REQUEST
BY_LINK = FOLDER + 'pages = { by = "link" }' + REQUEST


def leading(to: str) -> Callable[[Asked], Any]:
    """An app whose first page leads to an address, of which ``{host}`` is its own."""

    def answer(asked: Asked) -> Any:
        start = int(asked.query.get("from", "0"))
        following = to.format(host=asked.headers["host"]) if start < 6 else None
        body = {"rows": FOLDERS[start : start + 3], "next": following}
        return FakeAnswer(200, body, {"Link": f'<{following}>; rel="next"'} if following else {})

    return answer


@pytest.mark.parametrize("text", [BY_URL, BY_LINK])
def test_an_address_goes_out_without_secrets_and_comes_back(desk: Desk, text: str) -> None:
    following = f"http://{{host}}/api/folders?access_token={TOKEN}&from=6&key=%{ord(TOKEN[0]):x}{TOKEN[1:]}"
    desk.on("GET /folders", leading(following))
    first = desk.options(text, "folder")
    assert first["context"] == {"cursor": f"http://{desk.host}/api/folders?from=6"}
    last = desk.options(text, "folder", page=1, previous=first["context"])
    assert last == {"offers": {"Folder 7": 7}, "context": None}


def test_an_address_that_holds_a_secret_prop_does_not_go_out(desk: Desk) -> None:
    desk.on("GET /folders", leading("http://{host}/api/folders?from=6&key=of-a-secret-prop"))
    looked = desk.options(BY_URL, "folder", mask=("of-a-secret-prop",))
    assert (list(looked["offers"].values()), looked["context"]) == ([1, 2, 3, 7], None)


def test_pages_that_lead_elsewhere_in_the_app_are_read_at_once(desk: Desk) -> None:
    desk.on("GET /folders", leading("http://{host}/api/teams/1/folders?from=6"))
    desk.on("GET /teams/1/folders", leading(""))
    looked = desk.options(BY_LINK, "folder")
    assert (list(looked["offers"].values()), looked["context"]) == ([1, 2, 3, 7], None)


@pytest.mark.parametrize(
    "cursor",
    [
        "http://{host}/api/secrets",
        "http://{host}/api/folders/../secrets",
        "http://{host}/api/folders/",
        "https://{host}/api/folders",
        "https://elsewhere.example/api/folders",
        "http://{host}@elsewhere.example/api/folders",
        "/secrets",
        "http://[",
        {"a": 1},
        ["a"],
        7,
    ],
)
def test_no_cursor_leads_to_another_address(desk: Desk, cursor: Any) -> None:
    desk.on("GET /folders", leading(""))
    whole = cursor.format(host=desk.host) if isinstance(cursor, str) else cursor
    reply = desk.call(BY_URL, method="options", prop="folder", page=1, previous={"cursor": whole})
    assert reply.error is not None
    assert reply.error.message == "The cursor belongs to another list, sort or filter; start again without it."
    assert desk.provider.asked == []


@pytest.mark.parametrize("cursor", [{"a": 1}, ["a"], 1.5])
def test_a_cursor_that_is_sent_is_a_text_or_a_number(desk: Desk, cursor: Any) -> None:
    desk.on("GET /folders", {"rows": FOLDERS})
    reply = desk.call(FOLDER + CURSOR + REQUEST, method="options", prop="folder", page=1, previous={"cursor": cursor})
    assert reply.error is not None
    assert desk.provider.asked == []
    assert desk.options(FOLDER + CURSOR + REQUEST, "folder", previous={"cursor": 3})["offers"]


def cursor(asked: Asked) -> Any:
    start = int(asked.query.get("after", "0"))
    return {"rows": FOLDERS[start : start + 3], "next": str(start + 3) if start < 6 else None}


def numbered(asked: Asked) -> Any:
    start = (int(asked.query["page"]) - 1) * 3
    return {"rows": FOLDERS[start : start + 3]}


def test_one_page_of_options(desk: Desk) -> None:
    desk.on("GET /folders", {"rows": [*FOLDERS[:2], {"id": 9, "name": ""}, {"name": "No id"}]})
    assert desk.options(FOLDER + REQUEST, "folder") == {"offers": {"Folder 1": 1, "Folder 2": 2}, "context": None}
    assert desk.options(FOLDER + REQUEST, "folder", query=" folder 2")["offers"] == {"Folder 2": 2}
    assert desk.options(FOLDER + REQUEST, "folder", page=1)["offers"] == {}


def test_texts_as_options(desk: Desk) -> None:
    desk.on("GET /folders", {"rows": FOLDERS[:2]})
    text = FOLDER.replace('label = "{$item.name}"\nvalue = "{$item.id}"', 'value = "{$item.name}"')
    assert desk.options(text.replace("integer", "string") + REQUEST, "folder")["offers"] == ["Folder 1", "Folder 2"]


def test_pages_by_cursor(desk: Desk) -> None:
    desk.on("GET /folders", cursor)
    text = FOLDER + CURSOR + REQUEST
    first = desk.options(text, "folder")
    assert (list(first["offers"].values()), first["context"]) == ([1, 2, 3], {"cursor": "3"})
    last = desk.options(text, "folder", page=2, previous={"cursor": "6"})
    assert last == {"offers": {"Folder 7": 7}, "context": None}
    assert desk.options(text, "folder", page=3)["offers"] == {}
    found = desk.options(text, "folder", query="folder 5")
    assert found == {"offers": {"Folder 5": 5}, "context": {"cursor": "6"}}


def test_pages_by_number(desk: Desk) -> None:
    desk.on("GET /folders", numbered)
    text = FOLDER + PAGES + REQUEST
    assert list(desk.options(text, "folder", page=1)["offers"].values()) == [4, 5, 6]
    assert desk.options(text, "folder", query="folder 7")["offers"] == {"Folder 7": 7}
    assert desk.options(text, "folder", query="folder", page=1)["offers"] == {}


def test_an_app_that_searches_by_itself(desk: Desk) -> None:
    desk.on("GET /folders", lambda asked: {"rows": FOLDERS[:1] if asked.query.get("q") == "x" else []})
    text = FOLDER + 'params = { q = "{$query}" }' + REQUEST
    assert desk.options(text, "folder", query="x")["offers"] == {"Folder 1": 1}


def test_a_prop_without_options(desk: Desk) -> None:
    reply = desk.call(FOLDER + REQUEST, method="options", prop="title")
    assert reply.error is not None
    assert reply.error.message == "The prop title has no options to look up."


FIELDS = """
[props.folder]
type = "integer"
label = "Folder"
reload_props = true
optional = true

[reload]
url = "/folders/{folder}/fields"
items = "fields"
name = "field_{$item.key}"
key = "{$item.key}"
kind = "{$item.type}"

[reload.kinds.choice]
label = "{$item.label}"
options = "{$item.choices}"
optional = "{$item.needed|not}"

[reload.kinds.number]
type = "integer"
label = "{$item.label}"
default = "{$item.start}"

[request]
method = "POST"
url = "/notes"
json = { folder = "{folder}", fields = "{$fields}" }
"""
ASKED = {
    "fields": [
        {"key": "size", "type": "choice", "label": "Size", "choices": ["S", "L"], "needed": True},
        {"key": "count", "type": "number", "label": "Count", "start": 3},
        {"key": "formula", "type": "formula", "label": "Computed"},
    ]
}


def test_props_that_follow(desk: Desk) -> None:
    desk.on("GET /folders/7/fields", ASKED)
    added = desk.call(FIELDS, method="reload", props={"folder": 7}).value[2:]
    options = [{"label": "S", "value": "S"}, {"label": "L", "value": "L"}]
    assert added == [
        {"name": "field_size", "type": "string", "label": "Size", "options": options},
        {
            "name": "field_count", "type": "integer", "label": "Count", "optional": True,
            "default": 3,
        },
    ]  # fmt: skip
    assert len(desk.call(FIELDS, method="reload", props={}).value) == 2
    desk.on("POST /notes", {"id": 1})
    desk.run(FIELDS, folder=7, field_size="S", other="x")
    assert desk.last.json == {"folder": 7, "fields": {"size": "S"}}
    assert len(desk.provider.asked) == 2


def test_values_as_their_kind_writes_them(desk: Desk) -> None:
    desk.on("GET /folders/7/fields", ASKED)
    desk.on("POST /notes", {"id": 1})
    text = FIELDS.replace(
        "[reload.kinds.number]", '[reload.kinds.choice.write]\nchosen = "{$value}"\n[reload.kinds.number]'
    )
    desk.run(text, folder=7, field_size="S", field_count=2)
    assert desk.last.json["fields"] == {"size": {"chosen": "S"}, "count": 2}


def test_no_field_takes_the_place_of_a_declared_prop(desk: Desk) -> None:
    fields = [{"key": "folder", "type": "choice", "label": "Taken"}, {"key": "size", "type": "choice", "label": "Size"}]
    desk.on("GET /folders/7/fields", {"fields": fields})
    text = FIELDS.replace("field_{$item.key}", "{$item.key}")
    props = desk.call(text, method="reload", props={"folder": 7}).value
    assert [(prop["name"], prop.get("label")) for prop in props[1:]] == [("folder", "Folder"), ("size", "Size")]
