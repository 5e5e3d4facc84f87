"""Create a spreadsheet."""

from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, string, string_list

from ..common import account


class CreateSpreadsheet(Action):
    name = "Create spreadsheet"
    description = (
        "Create a spreadsheet in your Google Drive, with the titles of its columns. "
        "[See the documentation](https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets/create)"
    )
    annotations = CREATES

    google_sheets = account
    title = string(label="Title")
    columns = string_list(label="Columns", description="The titles in the first row.", optional=True)

    def run(self, ctx: Context) -> Any:
        titles = [{"userEnteredValue": {"stringValue": column}} for column in ctx.props.columns or []]
        spreadsheet = ctx.http.post(
            "/v4/spreadsheets",
            json={
                "properties": {"title": ctx.props.title},
                "sheets": [{"data": [{"rowData": [{"values": titles}]}]}] if titles else [],
            },
        ).json()
        ctx.export("$summary", f"Created the spreadsheet {ctx.props.title}")
        return {"spreadsheetId": spreadsheet["spreadsheetId"], "spreadsheetUrl": spreadsheet["spreadsheetUrl"]}
