"""BigQuery's actions in Python, against a fake written from
https://cloud.google.com/bigquery/docs/reference/rest/v2."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness

FIELDS = [
    {"name": "name", "type": "STRING"},
    {"name": "number", "type": "INTEGER"},
    {"name": "paid", "type": "BOOLEAN"},
    {"name": "price", "type": "FLOAT"},
    {"name": "odd", "type": "FLOAT"},
    {"name": "tags", "type": "STRING", "mode": "REPEATED"},
    {"name": "buyer", "type": "RECORD", "fields": [{"name": "id", "type": "INT64"}]},
]
CELLS = [
    {"v": "Ada"},
    {"v": "7"},
    {"v": "true"},
    {"v": "1.5"},
    {"v": "NaN"},
    {"v": [{"v": "a"}, {"v": "b"}]},
    {"v": {"f": [{"v": "9"}]}},
]
JOB = {"projectId": "acme", "jobId": "job 1", "location": "EU"}


@pytest.fixture
def bigquery(desk_of: Callable[..., AppHarness]) -> AppHarness:
    return desk_of("google_bigquery", oauth_access_token="token")


def done(**more: Any) -> dict[str, Any]:
    return {"jobComplete": True, "jobReference": JOB, "schema": {"fields": FIELDS}, **more}


def test_rows_are_reported_by_the_names_of_their_columns(bigquery: AppHarness) -> None:
    bigquery.on("POST /projects/acme/queries", done(rows=[{"f": CELLS}], totalRows="1"))
    reply = bigquery.run("run-query", project_id="acme", query="SELECT 1", most=5)
    row = {"name": "Ada", "number": 7, "paid": True, "price": 1.5, "odd": "NaN", "tags": ["a", "b"], "buyer": {"id": 9}}
    assert (reply.value["rows"], reply.exports["$summary"]) == ([row], "Got 1 row")
    assert bigquery.last.json == {"query": "SELECT 1", "useLegacySql": False, "maxResults": 5, "timeoutMs": 15000}


def test_a_query_that_takes_longer_is_asked_for_again(bigquery: AppHarness) -> None:
    bigquery.on("POST /projects/acme/queries", {"jobComplete": False, "jobReference": JOB})
    bigquery.on("GET /projects/acme/queries/job%201", done(numDmlAffectedRows="3"))
    reply = bigquery.run("run-query", project_id="acme", query="DELETE")
    assert (reply.exports["$summary"], bigquery.last.query["location"]) == ("Changed 3 rows", "EU")
    bigquery.on("GET /projects/acme/queries/job%201", {"jobComplete": False, "jobReference": JOB})
    assert "takes longer" in bigquery.refuses("run-query", project_id="acme", query="DELETE")


def test_a_row_is_added_or_refused_with_the_reason(bigquery: AppHarness) -> None:
    props = {"project_id": "acme", "dataset_id": "sales", "table_id": "orders", "row": {"name": "Ada"}}
    bigquery.on("POST /projects/acme/datasets/sales/tables/orders/insertAll", {})
    assert bigquery.run("insert-row", **props).exports["$summary"] == "Added a row to orders"
    assert bigquery.last.json == {"rows": [{"json": {"name": "Ada"}}]}
    errors = [{"index": 0, "errors": [{"reason": "invalid", "location": "name", "message": "no such field."}]}]
    bigquery.on("POST /projects/acme/datasets/sales/tables/orders/insertAll", {"insertErrors": errors})
    assert bigquery.refuses("insert-row", **props) == "BigQuery refused the row at name: no such field."


def test_projects_are_offered(bigquery: AppHarness) -> None:
    bigquery.on("GET /projects", {"projects": [{"id": "acme", "friendlyName": "Acme"}], "nextPageToken": "p2"})
    assert bigquery.options("run-query", "project_id")["found"] == {"Acme": "acme"}
