"""Look for rows that were added to a worksheet since the last time."""

from typing import Any

from webapp.service.catalog.shared.polling import EXAMPLES
from webapp.service.components.authoring import Context, Trigger, service_db, timer

from ..added import MOST, added, hashes, packed, unpacked
from ..common import account, cells, letters, read, spreadsheet_prop, worksheet_prop, worksheet_title


class NewRow(Trigger):
    name = "New row"
    description = (
        "Each row that is added to a worksheet, at its end or between others, with the titles in the first row "
        "as names. Rows that are edited, moved or deleted are left out. "
        "[See the documentation](https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/get)"
    )

    google_sheets = account
    spreadsheet_id = spreadsheet_prop
    worksheet = worksheet_prop
    timer = timer(default={"intervalSeconds": 300})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        titles, rows = _worksheet(ctx)
        _emit(ctx, titles, rows[-EXAMPLES:])
        _remember(ctx, rows)

    def run(self, ctx: Context) -> None:
        titles, rows = _worksheet(ctx)
        if ctx.db.get("place") not in (None, _place(ctx)):
            ctx.log("Another worksheet was chosen. The rows that it has now count as seen.")
        else:
            before = unpacked(ctx.db.get("rows", ""))
            compared = rows if len(before) < MOST else rows[-MOST:]
            _emit(ctx, titles, [compared[at] for at in added(before, hashes([row for _, row in compared]))])
        _remember(ctx, rows)


def _worksheet(ctx: Context) -> tuple[list[str], list[tuple[int, list[Any]]]]:
    """The titles of its columns, and its rows below them that are not empty, with their numbers."""
    first, *rest = read(ctx, cells(worksheet_title(ctx))) or [[]]
    rows = [(number, row) for number, row in enumerate(rest, start=2) if any(str(cell).strip() for cell in row)]
    return [str(title).strip() for title in first], rows


def _place(ctx: Context) -> list[str]:
    return [ctx.props.spreadsheet_id, ctx.props.worksheet]


def _remember(ctx: Context, rows: list[tuple[int, list[Any]]]) -> None:
    ctx.db.set("place", _place(ctx))
    ctx.db.set("rows", packed(hashes([row for _, row in rows])))


def _emit(ctx: Context, titles: list[str], rows: list[tuple[int, list[Any]]]) -> None:
    for number, row in rows:
        ctx.emit({"row": number, "values": _named(titles, row)}, summary=f"Row {number}")


def _named(titles: list[str], row: list[Any]) -> dict[str, Any]:
    """The cells by the titles of their columns; by their letters, where a title is missing or stands there twice."""
    wide = max(len(titles), len(row))
    padded = titles + [""] * (wide - len(titles))
    names = [title if title and padded.count(title) == 1 else letters(at) for at, title in enumerate(padded)]
    return {name: row[at] if at < len(row) else "" for at, name in enumerate(names)}
