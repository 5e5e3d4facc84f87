"""Add a row to a table."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, ComponentError, Context, object_, string

from .. import common


class InsertRow(Action):
    name = "Insert row"
    description = (
        "Add a row to a table. "
        "[See the documentation](https://cloud.google.com/bigquery/docs/reference/rest/v2/tabledata/insertAll)"
    )
    annotations = CREATES

    google_bigquery = common.account
    project_id = common.project_prop
    dataset_id = string(label="Dataset", description="Its id, as List datasets gives it.")
    table_id = string(label="Table", description="Its id, as List tables gives it.")
    row = object_(label="Row", description="The values by the names of their columns.")

    def run(self, ctx: Context) -> Any:
        parts = [quote(part, safe="") for part in (ctx.props.project_id, ctx.props.dataset_id, ctx.props.table_id)]
        place = "/projects/{}/datasets/{}/tables/{}/insertAll".format(*parts)
        answer = ctx.http.post(place, json={"rows": [{"json": ctx.props.row}]}).json()
        errors = [error for row in answer.get("insertErrors", []) for error in row.get("errors", [])]
        if errors:
            reason = f"{errors[0].get('location') or 'a column'}: {errors[0].get('message') or errors[0].get('reason')}"
            raise ComponentError(f"BigQuery refused the row at {reason}")
        ctx.export("$summary", f"Added a row to {ctx.props.table_id}")
        return {"inserted": 1}
