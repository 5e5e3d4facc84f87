"""Lists that come in pages, in each way that apps have."""

import time
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import Asked, FakeAnswer
from tests.service.components.declared.conftest import Desk
from webapp.service.components.declared.paging import next_link
from webapp.service.components.http import HttpResponse

ROWS = [{"id": number} for number in range(1, 8)]
MOST = '[props.most]\ntype = "integer"\nlabel = "At most"\noptional = true\n[request]\nurl = "/notes"\n'


def page_of(asked: Asked, start: int, size: int = 3) -> dict[str, Any]:
    rows = ROWS[start : start + size]
    more = start + size < len(ROWS)
    return {"rows": rows, "more": more, "next": {"cursor": str(start + size) if more else None}}


def by_cursor(asked: Asked) -> Any:
    return page_of(asked, int(asked.query.get("after", "0")), int(asked.query.get("limit", "3")))


def by_page(asked: Asked) -> Any:
    return page_of(asked, (int(asked.query["page"]) - 1) * 3)


def by_offset(asked: Asked) -> Any:
    return page_of(asked, int(asked.query.get("skip", "0")))


def by_last(asked: Asked) -> Any:
    return page_of(asked, int(asked.query.get("after", "0")))


def by_link(asked: Asked) -> Any:
    start = int(asked.query.get("from", "0"))
    links = f'</api/notes?from={start + 3}>; rel="next", </api/notes>; rel="first"' if start < 6 else "</>; rel=first"
    return FakeAnswer(200, page_of(asked, start), {"Link": links})


def by_url(asked: Asked) -> Any:
    start = int(asked.query.get("from", "0"))
    following = f"http://{asked.headers['host']}/api/notes?from={start + 3}" if start < 6 else None
    return page_of(asked, start) | {"@next": following}


WAYS = [
    (by_cursor, 'by = "cursor", param = "after", next = "next.cursor"'),
    (by_page, 'by = "page", param = "page", size_param = "size", size = 3'),
    (by_page, 'by = "page", param = "page", more = "more"'),
    (by_offset, 'by = "offset", param = "skip", size_param = "limit", size = 3'),
    (by_last, 'by = "cursor", param = "after", last = "id", more = "more"'),
    (by_link, 'by = "link"'),
    (by_url, "by = 'url', next = '@next'"),
]


@pytest.mark.parametrize(("answer", "pages"), WAYS)
def test_all_pages_are_gathered(desk: Desk, answer: Any, pages: str) -> None:
    desk.on("GET /notes", answer)
    assert desk.run(f'{MOST}items = "rows"\npages = {{ {pages} }}') == ROWS
    assert len(desk.provider.asked) == 3


@pytest.mark.parametrize(("answer", "pages"), WAYS)
def test_no_more_is_asked_for_than_is_wanted(desk: Desk, answer: Any, pages: str) -> None:
    desk.on("GET /notes", answer)
    text = f'{MOST}items = "rows"\npages = {{ {pages}, most = "{{most}}" }}'
    assert desk.run(text, most=4) == ROWS[:4]
    assert len(desk.provider.asked) == 2
    assert len(desk.run(text.replace('most = "{most}"', "cap = 1"))) == 3


def test_the_last_page_by_cursor_is_as_small_as_what_is_left(desk: Desk) -> None:
    desk.on("GET /notes", by_cursor)
    pages = '{ by = "cursor", param = "after", next = "next.cursor", size_param = "limit", size = 3, most = 4 }'
    assert desk.run(f'{MOST}items = "rows"\npages = {pages}') == ROWS[:4]
    assert [asked.query["limit"] for asked in desk.provider.asked] == ["3", "1"]


def test_a_cursor_in_the_body(desk: Desk) -> None:
    desk.on("POST /notes", lambda asked: page_of(asked, int(asked.json.get("after", 0))))
    pages = '{ by = "cursor", param = "after", next = "next.cursor", place = "json" }'
    text = f'[request]\nmethod = "POST"\nurl = "/notes"\njson = {{ kind = "a" }}\nitems = "rows"\npages = {pages}'
    assert desk.run(text) == ROWS
    assert desk.last.json == {"kind": "a", "after": "6"}


def test_a_cursor_within_the_body(desk: Desk) -> None:
    """As GraphQL has it: https://graphql.org/learn/serving-over-http/."""
    desk.on("POST /graphql", lambda asked: page_of(asked, int(asked.json["variables"].get("after", 0))))
    pages = '{ by = "cursor", param = "variables.after", next = "next.cursor", place = "json" }'
    json = '{ query = "q", variables = { kind = "a" } }'
    text = f'[request]\nmethod = "POST"\nurl = "/graphql"\njson = {json}\nitems = "rows"\npages = {pages}'
    assert desk.run(text) == ROWS
    assert desk.last.json == {"query": "q", "variables": {"kind": "a", "after": "6"}}


def test_a_list_that_never_ends_does(desk: Desk) -> None:
    desk.on("GET /notes", {"rows": ROWS, "next": {"cursor": "same"}})
    assert len(desk.run(f'{MOST}items = "rows"\npages = {{ {WAYS[0][1]} }}')) == 2 * len(ROWS)


def test_an_address_of_a_page_stays_within_the_app(desk: Desk) -> None:
    desk.on("GET /notes", {"rows": ROWS, "@next": "https://elsewhere.example/notes"})
    assert "is not an address of this app" in desk.refuses(f"{MOST}items = 'rows'\npages = {{ {WAYS[-1][1]} }}")


def test_some_of_a_list_in_another_order(desk: Desk) -> None:
    desk.on("GET /notes", {"rows": {"b": {"id": 2, "on": 1}, "a": {"id": 1, "on": 1}, "c": {"id": 0, "on": 0}}})
    text = '[request]\nurl = "/notes"\nitems = "rows"\nwhere = { on = 1 }\nsort = "id"\n'
    desk.run(text)
    assert desk.call(text + "[exports]\nids = \"{$items|each('id')}\"\n").exports["ids"] == [1, 2]


def test_too_much_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.components.limits.OUTPUT_BYTES", 100)
    desk.on("GET /notes", by_page)
    reply = desk.call(f'{MOST}items = "rows"\npages = {{ {WAYS[1][1]} }}')
    assert reply.error is not None
    assert (reply.error.kind, reply.error.message) == ("result", "The app answered with more than 6 MiB. Ask for less.")


@pytest.mark.parametrize(
    ("header", "following"),
    [
        ('<?from=3>; rel="next"', "https://tiny.example/notes?from=3"),
        ("</a>; rel=prev, </b,c;d>; title=x; REL = NEXT", "https://tiny.example/b,c;d"),
        ('</a>; rel="last next" , </b>; rel="nextmost"', "https://tiny.example/a"),
        ('</a>; rel="nextmost", </b>; title="rel=next"', None),
        ('<http://[>; rel="next"', None),
        ("rel=next", None),
        ("", None),
    ],
)
def test_the_next_page_in_a_header(header: str, following: str | None) -> None:
    answer = HttpResponse(200, {"link": header}, b"", "https://tiny.example/notes")
    assert next_link(answer) == following


def test_a_header_that_is_made_to_take_long_does_not() -> None:
    began = time.perf_counter()
    for header in ("<>" + " ; " * 8_000, "<>;" + "rel=" * 8_000, "<" * 24_000, "," * 24_000, '<a>;rel="' * 3_000):
        assert next_link(HttpResponse(200, {"link": header}, b"", "https://tiny.example/notes")) is None
    assert time.perf_counter() - began < 0.5


def test_numbers_are_put_in_order_by_size(desk: Desk) -> None:
    order = [3, 11, 0, 10, 2, 1.5, "b", None]
    desk.on("GET /notes", {"rows": [{"at": number} for number in order]})
    text = '[request]\nurl = "/notes"\nitems = "rows"\nsort = "at"\n[result]\nat = "{$items|each(\'at\')}"\n'
    assert desk.run(text)["at"][:6] == [0, 1.5, 2, 3, 10, 11]
