"""What the Google Sheets components share: choosing a spreadsheet and a worksheet, and reading and writing its cells.

The first row of a worksheet names its columns; a column is known by its letter, as in the prop ``column_B``.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from webapp.service.components.authoring import ComponentError, Context, Option, Options, Prop, app, string, string_list

_FILES = "https://www.googleapis.com/drive/v3/files"
_PREFIX = "column_"


def _find_spreadsheets(ctx: Context) -> Options:
    """The person's spreadsheets, last changed first; a query matches the beginnings of words in their names."""
    token = ctx.previous.get("token")
    if ctx.page and not token:
        return Options([])
    conditions = ["mimeType = 'application/vnd.google-apps.spreadsheet'", "trashed = false"]
    if ctx.query:
        conditions.append(f"name contains '{_escaped(ctx.query)}'")
    answer = ctx.http.get(
        _FILES,
        params={
            "q": " and ".join(conditions),
            "orderBy": "modifiedTime desc",
            "fields": "nextPageToken,files(id,name)",
            "pageSize": 100,
            "pageToken": token,
            "supportsAllDrives": True,
            "includeItemsFromAllDrives": True,
        },
    ).json()
    following = answer.get("nextPageToken")
    options = [Option(file["name"], file["id"]) for file in answer.get("files", [])]
    return Options(options, {"token": following} if following else None)


def _find_worksheets(ctx: Context) -> Options:
    """The worksheets of the chosen spreadsheet that hold cells."""
    if ctx.page:
        return Options([])
    path = f"/v4/spreadsheets/{quote(ctx.props.spreadsheet_id, safe='')}"
    answer = ctx.http.get(path, params={"fields": "sheets.properties(title,sheetType)"}).json()
    sheets = [sheet["properties"] for sheet in answer["sheets"]]
    return Options([sheet["title"] for sheet in sheets if sheet.get("sheetType", "GRID") == "GRID"])


def worksheet_title(ctx: Context) -> str:
    """The title of the chosen worksheet, which callers may also name by its id, the ``gid`` of its address."""
    chosen: str = ctx.props.worksheet
    if not chosen.isdecimal():
        return chosen
    sheets = _sheets(ctx)
    by_title = {sheet["title"] for sheet in sheets}
    return chosen if chosen in by_title else next((s["title"] for s in sheets if str(s["sheetId"]) == chosen), chosen)


def _sheets(ctx: Context) -> list[dict[str, Any]]:
    """The properties of the worksheets of the chosen spreadsheet."""
    path = f"/v4/spreadsheets/{quote(ctx.props.spreadsheet_id, safe='')}"
    answer = ctx.http.get(path, params={"fields": "sheets.properties(sheetId,title)"}).json()
    return [sheet["properties"] for sheet in answer["sheets"]]


def find_columns(ctx: Context) -> Options:
    """The named columns of the chosen worksheet."""
    return Options([] if ctx.page else [Option(title, letters) for letters, title in columns(ctx).items()])


def cells(title: str, range_: str = "") -> str:
    """A range of a worksheet in A1 notation, whatever its title holds."""
    return f"'{title.replace(chr(39), chr(39) * 2)}'" + (f"!{range_}" if range_ else "")


def values_url(ctx: Context, range_: str, verb: str = "") -> str:
    """The address of the values in ``range_`` of the chosen spreadsheet."""
    return f"/v4/spreadsheets/{quote(ctx.props.spreadsheet_id, safe='')}/values/{quote(range_, safe='')}{verb}"


def read(ctx: Context, range_: str, **params: Any) -> list[list[Any]]:
    """The rows in ``range_``; Google leaves empty cells at the end of a row, and empty rows at the end, out."""
    rows: list[list[Any]] = ctx.http.get(values_url(ctx, range_), params=params).json().get("values", [])
    return rows


def columns(ctx: Context) -> dict[str, str]:
    """The titles in the first row of the chosen worksheet by the letters of their columns."""
    first = next(iter(read(ctx, cells(worksheet_title(ctx), "1:1"))), [])
    return {letters(at): str(title) for at, title in enumerate(first) if str(title).strip()}


def column_props(ctx: Context) -> dict[str, Prop]:
    """A prop for each column; one for the whole row where the first row is empty."""
    if not ctx.props.spreadsheet_id or not ctx.props.worksheet:
        return {}
    titles = columns(ctx)
    if not titles:
        return {"values": string_list(label="Values", description="The cells of the row, from column A on.")}
    return {f"{_PREFIX}{at}": string(label=title, optional=True) for at, title in titles.items()}


def filled_row(extra: Mapping[str, Any]) -> list[str | None]:
    """The cells that the person filled in; None for those between that stay as they are. Raises where all are empty."""
    if extra.get("values"):
        return list(extra["values"])
    by_column = {name.removeprefix(_PREFIX): value for name, value in extra.items() if name.startswith(_PREFIX)}
    filled = {index(at): value for at, value in by_column.items() if value is not None}
    if not filled:
        raise ComponentError("The row is empty. Fill in at least one column.")
    return [filled.get(at) for at in range(max(filled) + 1)]


def letters(at: int) -> str:
    """The letters of the column ``at``, counted from 0: A to Z, AA and so on."""
    return (letters(at // 26 - 1) if at >= 26 else "") + chr(ord("A") + at % 26)


def index(letters: str) -> int:
    """The inverse of :func:`letters`."""
    at = 0
    for letter in letters:
        at = at * 26 + ord(letter) - ord("A") + 1
    return at - 1


def named(titles: Mapping[str, str], cells: Sequence[Any]) -> dict[str, Any]:
    """The cells of one row by the titles of their columns; an empty one is ``""``."""
    return {title: cells[index(at)] if index(at) < len(cells) else "" for at, title in titles.items()}


def _escaped(query: str) -> str:
    """``query`` within the quotes of a search term of Drive."""
    return query.replace("\\", "\\\\").replace("'", "\\'")


account = app("google_sheets")
spreadsheet_prop = string(label="Spreadsheet", options=_find_spreadsheets, use_query=True)
worksheet_prop = string(label="Worksheet", options=_find_worksheets)
AS_TYPED = "USER_ENTERED"
"""Cells are written as if a person typed them: numbers, dates and formulas are recognized."""
