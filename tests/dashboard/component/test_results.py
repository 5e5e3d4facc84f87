"""What a run gave, as people read it: tables, fields, links, and CSV that no spreadsheet runs."""

import csv
import io
from typing import Any

import pytest

from webapp.dashboard.component import results
from webapp.dashboard.component.results import Record, Table, cell

ISSUES = [
    {"number": 1, "title": "A", "user": {"login": "ada"}, "labels": ["bug"], "url": "https://a.test/1"},
    {"number": 2, "title": None, "user": {"login": "bob"}, "closed": True},
]


def table(value: Any, *chosen: str) -> Table:
    view = results.view_of(value, chosen)
    assert isinstance(view, Table)
    return view


def test_like_objects_are_a_table() -> None:
    view = table(ISSUES)
    assert view.columns == ["number", "title", "user.login", "labels", "url", "closed"]
    assert view.shown == ["number", "title", "user.login", "url", "closed"], "plain values first"
    assert [one.text for one in view.rows[0]] == ["1", "A", "ada", "/1", ""]
    assert table(ISSUES, "closed", "number", "gone").shown == ["number", "closed"]
    assert table({"data": ISSUES, "next": None}).total == 2, "the only list in an object"
    assert [row[0].text for row in table(["a", 5]).rows] == ["a", "5"]


@pytest.mark.parametrize(
    "value", [[], {}, None, "text", 5, [[1], [2]], [{"a": 1}, {"b": 2}, {"c": 3}], [{"a": 1}, 5], [{}, {}]]
)
def test_what_is_no_table_is_none(value: Any) -> None:
    assert results.view_of(value) is None
    assert results.csv_of(value)


def test_an_object_is_its_fields() -> None:
    view = results.view_of({"id": 5, "user": {"login": "ada"}, "parts": [1], "more": {"deep": {"er": 1}}})
    assert isinstance(view, Record)
    assert [(name, one.text) for name, one in view.fields] == [
        ("id", "5"), ("user.login", "ada"), ("parts", "[1]"), ("more", '{"deep": {"er": 1}}'),
    ]  # fmt: skip


def test_a_long_list_shows_its_beginning_and_is_whole_as_csv() -> None:
    rows = [{"n": number, "text": "x" * 1000} for number in range(1240)]
    view = table(rows)
    assert (len(view.rows), view.total) == (200, 1240)
    assert view.rows[0][1].text == "x" * 300 + "…"
    assert len(list(csv.reader(io.StringIO(results.csv_of(rows))))) == 1241


@pytest.mark.parametrize(
    "value, kind, host",
    [
        ("https://a.test/x?y=1", "link", "a.test"), ("http://a.test:8080/", "link", "a.test"),
        ("javascript:alert(1)", "text", ""), ("https://bank.test@evil.test/", "text", ""),
        ("https://a.test/\nx", "text", ""), ("https://[", "text", ""), ("https://", "text", ""),
        ("data:image/png;base64,AAAA", "image", ""), ("data:image/svg+xml;base64,AAAA", "text", ""),
        ("data:text/html;base64,AAAA", "text", ""), ('data:image/png;base64,"onerror=x', "text", ""),
        (None, "nothing", ""), ("", "nothing", ""), (False, "text", ""), ({"a": 1}, "json", ""),
    ],
)  # fmt: skip
def test_links_and_images_are_only_what_is_safe(value: Any, kind: str, host: str) -> None:
    assert (cell(value).kind, cell(value).host) == (kind, host)


@pytest.mark.parametrize(
    "value, shown",
    [
        ("=1+1", "'=1+1"), ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"), ("-2+3", "'-2+3"), ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"), ("  =1", "'  =1"), ("＝1", "'＝1"), (["=1"], '["=1"]'),
        ("-5", "-5"), (-5, "-5"), ("+49", "+49"), (-1.5, "-1.5"), (True, "true"), ("a=b", "a=b"), (None, ""),
    ],
)  # fmt: skip
def test_no_cell_of_csv_is_a_formula(value: Any, shown: str) -> None:
    text = results.csv_of([{"=head": value, "other": 1}, {"=head": "x", "other": 2}])
    assert text.startswith("\ufeff")
    head, first, _ = csv.reader(io.StringIO(text[1:], newline=""))
    assert (head[0], first[0]) == ("'=head", shown)


def test_what_is_copied_is_what_is_shown() -> None:
    view = table(ISSUES, "number", "user.login")
    assert results.csv_of_shown(ISSUES, view) == "number,user.login\r\n1,ada\r\n2,bob\r\n"
