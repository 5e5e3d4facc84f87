"""Empty cells."""

from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, string

from ..common import account, cells, spreadsheet_prop, values_url, worksheet_prop


class ClearValues(Action):
    name = "Clear values"
    description = (
        "Empty the cells of a range; their format stays. "
        "[See the documentation](https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/clear)"
    )
    annotations = OVERWRITES

    google_sheets = account
    spreadsheet_id = spreadsheet_prop
    worksheet = worksheet_prop
    range = string(label="Range", description="Such as A2:C10 or 5:5.")

    def run(self, ctx: Context) -> Any:
        cleared = ctx.http.post(values_url(ctx, cells(ctx.props.worksheet, ctx.props.range), ":clear"), json={}).json()
        ctx.export("$summary", f"Cleared {cleared['clearedRange']}")
        return cleared
