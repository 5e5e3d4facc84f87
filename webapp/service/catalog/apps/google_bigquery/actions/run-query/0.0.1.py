"""Run a query, and tell its rows by the names of their columns."""

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import DELETES, counted
from webapp.service.components.authoring import Action, ComponentError, Context, integer, string

from .. import common

_WAIT_MS = 15_000


class RunQuery(Action):
    name = "Run query"
    description = (
        "Run a query in SQL and get its rows, or change data by it. "
        "[See the documentation](https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query)"
    )
    annotations = DELETES

    google_bigquery = common.account
    project_id = common.project_prop
    query = string(label="Query", description="In GoogleSQL, such as SELECT name FROM `sales.orders`.")
    location = string(label="Location", description="Such as EU, where the data does not tell it.", optional=True)
    most = integer(label="At most", default=1000, min=1, max=10_000, optional=True)

    def run(self, ctx: Context) -> Any:
        place = f"/projects/{quote(ctx.props.project_id, safe='')}/queries"
        body = {
            "query": ctx.props.query,
            "useLegacySql": False,
            "location": ctx.props.location,
            "maxResults": ctx.props.most,
            "timeoutMs": _WAIT_MS,
        }
        answer = ctx.http.post(place, json={name: value for name, value in body.items() if value is not None}).json()
        job = answer.get("jobReference", {})
        if not answer.get("jobComplete"):
            params = {"location": job["location"], "maxResults": ctx.props.most, "timeoutMs": _WAIT_MS // 2}
            answer = ctx.http.get(f"{place}/{quote(job['jobId'], safe='')}", params=params).json()
        if not answer.get("jobComplete"):
            raise ComponentError("The query takes longer than a run may. It continues in BigQuery; ask for less here.")
        fields = answer.get("schema", {}).get("fields", [])
        rows = [_named(fields, row["f"]) for row in answer.get("rows", [])]
        changed = answer.get("numDmlAffectedRows")
        ctx.export("$summary", f"Changed {changed} rows" if changed else f"Got {counted(rows, 'row')}")
        return {"rows": rows, "total_rows": answer.get("totalRows"), "changed_rows": changed, "job": job.get("jobId")}


def _named(fields: list[Mapping[str, Any]], cells: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {field["name"]: _value(field, cell["v"]) for field, cell in zip(fields, cells, strict=True)}


def _value(field: Mapping[str, Any], value: Any) -> Any:
    """A cell as JSON has it. BigQuery writes every value as text, and repeated ones as a list of cells."""
    if value is None:
        return None
    if field.get("mode") == "REPEATED":
        return [_value({**field, "mode": ""}, cell["v"]) for cell in value]
    match field["type"]:
        case "RECORD" | "STRUCT":
            return _named(field["fields"], value["f"])
        case "INTEGER" | "INT64":
            return int(value)
        case "FLOAT" | "FLOAT64" if math.isfinite(float(value)):
            return float(value)
        case "BOOLEAN" | "BOOL":
            return value == "true"
    return value
