"""Read cells."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import Action, Context, Option, string

from ..common import account, cells, read, spreadsheet_prop, worksheet_prop


class GetValues(Action):
    name = "Get values"
    description = (
        "Read the cells of a worksheet, or of a range in it, row by row. "
        "[See the documentation](https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/get)"
    )
    annotations = READS

    google_sheets = account
    spreadsheet_id = spreadsheet_prop
    worksheet = worksheet_prop
    range = string(label="Range", description="Such as A1:C10 or B:B. Empty for all cells.", optional=True)
    render = string(
        label="Values",
        default="FORMATTED_VALUE",
        optional=True,
        options=[
            Option("As shown in the sheet", "FORMATTED_VALUE"),
            Option("Plain numbers and texts", "UNFORMATTED_VALUE"),
            Option("Formulas", "FORMULA"),
        ],
    )

    def run(self, ctx: Context) -> Any:
        range_ = cells(ctx.props.worksheet, ctx.props.range or "")
        rows = read(ctx, range_, valueRenderOption=ctx.props.render)
        ctx.export("$summary", f"Read {counted(rows, 'row')}")
        return rows
