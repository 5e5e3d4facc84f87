"""Add a row below the last one."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, Prop

from ..common import (
    AS_TYPED,
    account,
    cells,
    column_props,
    filled_row,
    spreadsheet_prop,
    values_url,
    worksheet_prop,
    worksheet_title,
)


class AddRow(Action):
    name = "Add row"
    description = (
        "Add a row to a worksheet, with a field for each of its columns. "
        "[See the documentation](https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/append)"
    )
    annotations = CREATES

    google_sheets = account
    spreadsheet_id = spreadsheet_prop
    worksheet = worksheet_prop.but(reload_props=True)

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        return column_props(ctx)

    def run(self, ctx: Context) -> Any:
        added = ctx.http.post(
            values_url(ctx, cells(worksheet_title(ctx), "A1"), ":append"),
            params={"valueInputOption": AS_TYPED, "insertDataOption": "INSERT_ROWS"},
            json={"values": [filled_row(ctx.extra)]},
        ).json()
        ctx.export("$summary", f"Added a row at {added['updates']['updatedRange']}")
        return added["updates"]
