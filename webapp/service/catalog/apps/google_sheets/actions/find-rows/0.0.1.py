"""Find the rows that hold a value in a column."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, integer, string

from ..common import (
    account,
    cells,
    columns,
    find_columns,
    index,
    named,
    read,
    spreadsheet_prop,
    worksheet_prop,
    worksheet_title,
)


class FindRows(Action):
    name = "Find rows"
    description = (
        "Find the rows of a worksheet with a value in one column, ignoring case. "
        "[See the documentation](https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/get)"
    )
    annotations = READS

    google_sheets = account
    spreadsheet_id = spreadsheet_prop
    worksheet = worksheet_prop
    column = string(label="Column", options=find_columns)
    value = string(label="Value", description="What the cell shows, whole.")
    most = integer(label="At most", default=20, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        titles, at, value = columns(ctx), index(ctx.props.column), ctx.props.value.strip().casefold()
        rows = enumerate(read(ctx, cells(worksheet_title(ctx))), start=1)
        held = [(number, row) for number, row in rows if number > 1 and len(row) > at]
        hits = [(number, row) for number, row in held if str(row[at]).strip().casefold() == value][: ctx.props.most]
        ctx.export("$summary", f"Found {counted(hits, 'row')}")
        return [{"row": number, "values": named(titles, row)} for number, row in hits]
