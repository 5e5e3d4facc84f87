"""Change cells of several rows."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, ComponentError, Context, any_, as_json_text

from ..common import AS_TYPED, account, cells, columns, spreadsheet_prop, worksheet_prop, worksheet_title

_FORM = 'Write a list such as [{"row": 3, "values": {"Status": "Done"}}].'


class UpdateRows(Action):
    name = "Update rows"
    description = (
        "Change cells of several rows of a worksheet at once; the others stay as they are. "
        "[See the documentation](https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/batchUpdate)"
    )
    annotations = OVERWRITES

    google_sheets = account
    spreadsheet_id = spreadsheet_prop
    worksheet = worksheet_prop
    updates = as_json_text(
        any_(
            label="Changes",
            description=f"{_FORM} The values are named by the titles in row 1, "
            "or are a list of cells from column A on.",
        )
    )

    def run(self, ctx: Context) -> Any:
        changes = _changes(ctx.props.updates)
        title = worksheet_title(ctx)
        by_title: dict[str, str] = {}
        if any(isinstance(values, Mapping) for _, values in changes):
            by_title = {name: letters for letters, name in columns(ctx).items()}
        data = [
            {"range": cells(title, f"{letters}{row}"), "values": [written]}
            for row, values in changes
            for letters, written in _written(values, by_title)
        ]
        path = f"/v4/spreadsheets/{quote(ctx.props.spreadsheet_id, safe='')}/values:batchUpdate"
        changed = ctx.http.post(path, json={"valueInputOption": AS_TYPED, "data": data}).json()
        count = len(changes)
        ctx.export("$summary", f"Changed {count} {'row' if count == 1 else 'rows'} of {ctx.props.worksheet}")
        return changed


def _changes(updates: Any) -> list[tuple[int, Any]]:
    """The numbers and values of the rows in ``updates``, which may be JSON. Raises :class:`ComponentError`."""
    try:
        listed = json.loads(updates) if isinstance(updates, str) else updates
        changes = [(each["row"], each["values"]) for each in listed]
    except (ValueError, TypeError, KeyError) as error:
        raise ComponentError(_FORM) from error
    for row, values in changes:
        if not isinstance(row, int) or row < 1 or not values or not isinstance(values, list | dict):
            raise ComponentError(_FORM)
    return changes


def _written(values: Any, by_title: Mapping[str, str]) -> Iterator[tuple[str, list[Any]]]:
    """What is written from which column on. Raises :class:`ComponentError` for a title that no column has."""
    if isinstance(values, list):
        yield "A", values
        return
    for title, value in values.items():
        if title not in by_title:
            raise ComponentError(f"Row 1 of the worksheet has no title {title}.")
        yield by_title[title], [value]
