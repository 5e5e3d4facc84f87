"""Change cells of a row."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, Prop, integer

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


class UpdateRow(Action):
    name = "Update row"
    description = (
        "Change cells of a row in a worksheet; columns that you leave empty stay as they are. "
        "[See the documentation](https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/update)"
    )
    annotations = OVERWRITES

    google_sheets = account
    spreadsheet_id = spreadsheet_prop
    worksheet = worksheet_prop.but(reload_props=True)
    row = integer(label="Row", description="Its number; row 1 contains the titles.", min=1)

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        return column_props(ctx)

    def run(self, ctx: Context) -> Any:
        changed = ctx.http.put(
            values_url(ctx, cells(worksheet_title(ctx), f"A{ctx.props.row}")),
            params={"valueInputOption": AS_TYPED},
            json={"values": [filled_row(ctx.extra)]},
        ).json()
        ctx.export("$summary", f"Changed row {ctx.props.row} of {ctx.props.worksheet}")
        return changed
