"""Airtable's actions, against a fake written from https://airtable.com/developers/web/api/introduction."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer

TABLE = {
    "id": "tbl1",
    "name": "People",
    "primaryFieldId": "fld1",
    "fields": [
        {"id": "fld1", "name": "Name", "type": "singleLineText"},
        {"id": "fld2", "name": "Age", "type": "number", "options": {"precision": 0}},
        {"id": "fld3", "name": "Stage", "type": "singleSelect", "options": {"choices": [{"id": "s", "name": "New"}]}},
        {"id": "fld4", "name": "Photos", "type": "multipleAttachments"},
        {"id": "fld5", "name": "Total", "type": "formula"},
        {"id": "fld6", "name": "Active", "type": "checkbox"},
    ],
    "views": [{"id": "viw1", "name": "All", "type": "grid"}],
}
PLACE: dict[str, Any] = {"base_id": "app1", "table_id": "tbl1"}


@pytest.fixture
def airtable(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("airtable", oauth_access_token="oaa1")
    made.on("GET /meta/bases/app1/tables", {"tables": [TABLE, {"id": "tbl2", "name": "Places"}]})
    return made


def test_bases_come_page_by_page(airtable: AppHarness) -> None:
    def bases(asked: Asked) -> Any:
        if "offset" in asked.query:
            return {"bases": [{"id": "app2", "name": "Two"}]}
        return {"bases": [{"id": "app1", "name": "One"}], "offset": "itr1"}

    airtable.on("GET /meta/bases", bases)
    first = airtable.options("create-record", "base_id")
    assert first == {"found": {"One": "app1"}, "context": {"cursor": "itr1"}}
    assert airtable.options("create-record", "base_id", page=1, previous=first["context"])["found"] == {"Two": "app2"}
    assert airtable.options("create-record", "base_id", page=2)["found"] == {}


def test_tables_views_and_fields_are_offered(airtable: AppHarness) -> None:
    assert airtable.options("list-records", "table_id", base_id="app1")["found"] == {"People": "tbl1", "Places": "tbl2"}
    found = airtable.options("list-records", "table_id", base_id="app1", query="pla")["found"]
    assert found == {"Places": "tbl2"}
    assert airtable.options("list-records", "view_id", **PLACE)["found"] == {"All": "viw1"}
    assert len(airtable.options("list-records", "sort_field_id", **PLACE)["found"]) == 6


def test_the_props_point_to_each_other(airtable: AppHarness) -> None:
    base, table = airtable.reload("create-record")
    assert (base["type"], base["appProp"]) == ("$.airtable.baseId", "airtable")
    assert (table["type"], table["baseIdProp"], table["reloadProps"]) == ("$.airtable.tableId", "base_id", True)


def test_the_fields_of_the_table_become_props(airtable: AppHarness) -> None:
    props = {one["name"]: one for one in airtable.reload("create-record", **PLACE)[2:]}
    assert list(props) == ["fld1", "fld2", "fld3", "fld4", "fld6"]  # nothing computed
    assert props["fld3"]["options"] == [{"label": "New", "value": "New"}]
    assert (props["fld6"]["type"], props["fld6"]["label"]) == ("boolean", "Active")


def test_a_record_is_created(airtable: AppHarness) -> None:
    airtable.on("POST /app1/tbl1", lambda asked: {"id": "rec1", "fields": asked.json["fields"]})
    airtable.run("create-record", **PLACE, fld1="Ada", fld2="36", fld4=["https://a.example/1.png"], fld6=False)
    assert airtable.last.json == {
        "fields": {"fld1": "Ada", "fld2": 36, "fld4": [{"url": "https://a.example/1.png"}], "fld6": False}
    }
    assert airtable.refuses("create-record", **PLACE) == "The record is empty. Fill in at least one field."
    assert airtable.refuses("create-record", **PLACE, fld2="x") == "x is not a number. Write one such as 12.5."


def test_records_are_offered_by_their_primary_field(airtable: AppHarness) -> None:
    records = [{"id": "rec1", "fields": {"fld1": "Ada"}}, {"id": "rec2", "fields": {}}]
    airtable.on("GET /app1/tbl1", {"records": records, "offset": "itr1"})
    found = airtable.options("update-record", "record_id", **PLACE)
    assert found == {"found": {"Ada": "rec1", "rec2": "rec2"}, "context": {"cursor": "itr1"}}
    assert airtable.last.query == {"fields[]": "fld1", "returnFieldsByFieldId": "true", "pageSize": "100"}


def test_a_record_is_changed(airtable: AppHarness) -> None:
    airtable.on("PATCH /app1/tbl1/rec1", {"id": "rec1", "fields": {}})
    reply = airtable.run("update-record", {"record_id": "Ada"}, **PLACE, record_id="rec1", fld3="New")
    assert airtable.last.json == {"fields": {"fld3": "New"}}
    assert reply.exports["$summary"] == "Changed the record Ada"


def test_a_record_is_deleted(airtable: AppHarness) -> None:
    airtable.on("DELETE /app1/tbl1/rec1", {"id": "rec1", "deleted": True})
    assert airtable.run("delete-record", **PLACE, record_id="rec1").value == {"id": "rec1", "deleted": True}


def test_records_are_read_to_the_end(airtable: AppHarness) -> None:
    def records(asked: Asked) -> Any:
        last = "offset" in asked.query
        return {"records": [{"id": "rec2" if last else "rec1"}]} | ({} if last else {"offset": "itr1"})

    airtable.on("GET /app1/tbl1", records)
    reply = airtable.run(
        "list-records", **PLACE, view_id="viw1", formula="{Age} > 30", sort_field_id="fld2", direction="desc"
    )
    assert [one["id"] for one in reply.value] == ["rec1", "rec2"]
    assert airtable.provider.asked[0].query == {
        "view": "viw1", "filterByFormula": "{Age} > 30", "sort[0][field]": "fld2", "sort[0][direction]": "desc",
        "maxRecords": "100",
    }  # fmt: skip


def test_what_airtable_says_is_passed_on(airtable: AppHarness) -> None:
    error = {"error": {"type": "INVALID_MULTIPLE_CHOICE_OPTIONS", "message": "Insufficient permissions"}}
    airtable.on("POST /app1/tbl1", FakeAnswer(422, error))
    assert airtable.refuses("create-record", **PLACE, fld1="x") == (
        "The app answered with status 422: Insufficient permissions"
    )
