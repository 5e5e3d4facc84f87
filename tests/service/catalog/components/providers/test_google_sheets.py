"""Google Sheets' actions, against a fake of the Sheets API v4 and of Drive's files.list.

Written from https://developers.google.com/workspace/sheets/api/reference/rest and
https://developers.google.com/workspace/drive/api/reference/rest/v3/files/list. Drive has a host of its own, which the
runner cannot be led away from; so the call for spreadsheets is made here, on a client that leads it to a fake.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, FakeAnswer
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.components.account_http import AccountHttp
from webapp.service.components.brokered_http import BrokerLine
from webapp.service.components.child_calls import AccountFields, ChildCall
from webapp.service.components.context import Context
from webapp.service.components.loader import load, props_of
from webapp.service.components.options import Option, Options
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.responses import Response

BOOK: dict[str, Any] = {"spreadsheet_id": "book/1", "worksheet": "Ada's list"}
VALUES = "/v4/spreadsheets/book%2F1/values/"
SHEET = "%27Ada%27%27s%20list%27"
ROWS = [["Name", "", "Age"], ["Ada", "x", 36], ["Grace"], [], ["ada"]]


@pytest.fixture
def sheets(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("google_sheets", oauth_access_token="ya29.1")
    made.on(f"GET {VALUES}{SHEET}%211%3A1", {"range": "'Ada''s list'!A1:Z1", "values": ROWS[:1]})
    made.on(f"GET {VALUES}{SHEET}", {"values": ROWS})
    return made


def test_worksheets_with_cells_are_offered(sheets: AppHarness) -> None:
    found = [{"title": "Ada's list", "sheetType": "GRID"}, {"title": "Chart", "sheetType": "OBJECT"}]
    sheets.on("GET /v4/spreadsheets/book%2F1", {"sheets": [{"properties": one} for one in found]})
    assert sheets.options("add-row", "worksheet", spreadsheet_id="book/1")["found"] == ["Ada's list"]
    assert sheets.last.query == {"fields": "sheets.properties(title,sheetType)"}


def test_the_columns_of_the_worksheet_become_props(sheets: AppHarness) -> None:
    props = sheets.reload("add-row", **BOOK)
    assert [(one["name"], one["label"]) for one in props[2:]] == [("column_A", "Name"), ("column_C", "Age")]
    assert props[1]["reloadProps"]
    assert len(sheets.reload("add-row", spreadsheet_id="book/1")) == 2


def test_an_empty_worksheet_takes_a_whole_row(sheets: AppHarness) -> None:
    sheets.on(f"GET {VALUES}{SHEET}%211%3A1", {"range": "'Ada''s list'!A1:Z1"})
    assert [(one["name"], one["type"]) for one in sheets.reload("add-row", **BOOK)[2:]] == [("values", "string[]")]
    sheets.on(f"POST {VALUES}{SHEET}%21A1:append", {"updates": {"updatedRange": "A1:B1"}})
    sheets.run("add-row", **BOOK, values=["Name", "Age"])
    assert sheets.last.json == {"values": [["Name", "Age"]]}


def test_a_row_is_added(sheets: AppHarness) -> None:
    sheets.on(f"POST {VALUES}{SHEET}%21A1:append", {"updates": {"updatedRange": "'Ada''s list'!A6:C6"}})
    reply = sheets.run("add-row", **BOOK, column_A="Bob", column_C="=1+1")
    assert sheets.last.query == {"valueInputOption": "USER_ENTERED", "insertDataOption": "INSERT_ROWS"}
    assert sheets.last.json == {"values": [["Bob", None, "=1+1"]]}
    assert reply.exports["$summary"] == "Added a row at 'Ada''s list'!A6:C6"
    assert sheets.refuses("add-row", **BOOK) == "The row is empty. Fill in at least one column."


def test_a_row_is_changed_where_something_was_given(sheets: AppHarness) -> None:
    sheets.on(f"PUT {VALUES}{SHEET}%21A3", {"updatedCells": 1})
    sheets.run("update-row", **BOOK, row=3, column_C="85")
    assert sheets.last.query == {"valueInputOption": "USER_ENTERED"}
    assert sheets.last.json == {"values": [[None, None, "85"]]}


def test_cells_are_read(sheets: AppHarness) -> None:
    sheets.on(f"GET {VALUES}{SHEET}%21A2%3AB3", {"values": [["Ada", "x"], ["Grace"]]})
    reply = sheets.run("get-values", **BOOK, range="A2:B3")
    assert (reply.value, reply.exports["$summary"]) == ([["Ada", "x"], ["Grace"]], "Read 2 rows")
    assert sheets.last.query == {"valueRenderOption": "FORMATTED_VALUE"}
    assert len(sheets.run("get-values", **BOOK).value) == len(ROWS)


def test_rows_are_found_by_a_column(sheets: AppHarness) -> None:
    assert sheets.options("find-rows", "column", **BOOK)["found"] == {"Name": "A", "Age": "C"}
    reply = sheets.run("find-rows", **BOOK, column="A", value=" ADA ")
    assert reply.value == [
        {"row": 2, "values": {"Name": "Ada", "Age": 36}},
        {"row": 5, "values": {"Name": "ada", "Age": ""}},
    ]
    assert len(sheets.run("find-rows", **BOOK, column="A", value="ada", most=1).value) == 1
    assert sheets.run("find-rows", **BOOK, column="C", value="99").value == []


def test_a_worksheet_may_be_named_by_its_id(sheets: AppHarness) -> None:
    tabs = [{"sheetId": 0, "title": "Ada's list"}, {"sheetId": 7, "title": "2026"}]
    sheets.on("GET /v4/spreadsheets/book%2F1", {"sheets": [{"properties": tab} for tab in tabs]})
    by_id = sheets.run("find-rows", spreadsheet_id="book/1", worksheet="0", column="C", value="36")
    assert by_id.value == sheets.run("find-rows", **BOOK, column="C", value="36").value
    assert len(by_id.value) == 1


def test_cells_are_cleared(sheets: AppHarness) -> None:
    sheets.on(f"POST {VALUES}{SHEET}%21A2%3AC2:clear", {"clearedRange": "'Ada''s list'!A2:C2"})
    sheets.run("clear-values", **BOOK, range="A2:C2")
    assert sheets.last.json == {}


def test_a_spreadsheet_is_created_with_its_columns(sheets: AppHarness) -> None:
    made = {"spreadsheetId": "1", "spreadsheetUrl": "https://docs.google.com/spreadsheets/d/1/edit"}
    sheets.on("POST /v4/spreadsheets", {**made, "sheets": []})
    assert sheets.run("create-spreadsheet", title="People", columns=["Name"]).value == made
    assert sheets.last.json["properties"] == {"title": "People"}
    cells = sheets.last.json["sheets"][0]["data"][0]["rowData"][0]["values"]
    assert cells == [{"userEnteredValue": {"stringValue": "Name"}}]


def test_what_google_says_is_passed_on(sheets: AppHarness) -> None:
    error = {"error": {"code": 403, "message": "The caller does not have permission", "status": "PERMISSION_DENIED"}}
    sheets.on(f"GET {VALUES}{SHEET}", FakeAnswer(403, error))
    assert sheets.refuses("get-values", **BOOK) == (
        "If the account may only view the spreadsheet, ask its owner to let it edit. "
        "Google says: The caller does not have permission"
    )


class Drive(OutboundClient):
    """Answers files.list itself, and notes what was asked."""

    def __init__(self) -> None:
        super().__init__(Guard(), user_agent="Patchbay-Test")
        self.asked: list[tuple[str, dict[str, list[str]], str]] = []

    def request(self, method: str, url: str, **options: Any) -> Response:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        self.asked.append((f"{method} {parts.netloc}{parts.path}", query, options["headers"]["Authorization"]))
        files: dict[str, Any] = {"files": [{"id": "2", "name": "Bills"}]}
        if "pageToken" not in query:
            files = {"files": [{"id": "1", "name": "Budget"}], "nextPageToken": "more"}
        return Response(200, {}, json.dumps(files).encode(), url)


def test_spreadsheets_come_from_drive_page_by_page(sheets: AppHarness) -> None:
    drive = Drive()
    first = _spreadsheets(sheets, drive, query="B's \\")
    assert (first.items, first.context) == ([Option("Budget", "1")], {"token": "more"})
    what, query, credential = drive.asked[0]
    assert (what, credential) == ("GET www.googleapis.com/drive/v3/files", "Bearer ya29.1")
    assert query["q"] == [
        "mimeType = 'application/vnd.google-apps.spreadsheet' and trashed = false and name contains 'B\\'s \\\\'"
    ]
    second = _spreadsheets(sheets, drive, page=1, previous=first.context)
    assert (second.items, second.context) == ([Option("Bills", "2")], None)
    assert _spreadsheets(sheets, drive, page=2).items == []


def _spreadsheets(harness: AppHarness, client: OutboundClient, **asked: Any) -> Options:
    component = load(BUILT_IN / "google_sheets" / "actions" / "add-row" / "0.0.1.py")
    grant = replace(harness.grant, base_url=harness.app.spec.base_url, allowed_hosts=harness.app.allowed_hosts)
    call = ChildCall("", method="options", accounts={"google_sheets": AccountFields()}, **asked)
    props = props_of(component)
    find = props["spreadsheet_id"].find_options
    assert find is not None
    context = Context(call, props, BrokerLine(-1), lambda _: None)
    context.account.http = AccountHttp(client, grant, lambda: 5.0)
    return find(context)
