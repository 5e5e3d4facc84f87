"""What the Airtable actions share: choosing base, table, view and record."""

from typing import Any
from urllib.parse import quote

from webapp.service.components.authoring import (
    ComponentError,
    Context,
    Option,
    Options,
    airtable_base,
    airtable_table,
    app,
    string,
)

JsonObject = dict[str, Any]


def find_bases(ctx: Context) -> Options:
    """The bases that the person shared."""
    offset = ctx.previous.get("offset")
    if ctx.page and not offset:
        return Options([])
    answer = ctx.http.get("/meta/bases", params={"offset": offset}).json()
    following = answer.get("offset")
    return Options(_options(ctx, answer["bases"]), {"offset": following} if following else None)


def find_tables(ctx: Context) -> Options:
    """The tables of the chosen base."""
    return Options([] if ctx.page else _options(ctx, _tables(ctx)))


def find_views(ctx: Context) -> Options:
    """The views of the chosen table."""
    return Options([] if ctx.page else _options(ctx, table(ctx)["views"]))


def find_fields(ctx: Context) -> Options:
    """The fields of the chosen table, computed ones too."""
    return Options([] if ctx.page else _options(ctx, table(ctx)["fields"]))


def find_records(ctx: Context) -> Options:
    """The records of the chosen table by their primary field. A query is looked for on the page at hand."""
    offset = ctx.previous.get("offset")
    if ctx.page and not offset:
        return Options([])
    primary = table(ctx)["primaryFieldId"]
    params = {"fields[]": primary, "returnFieldsByFieldId": True, "pageSize": 100, "offset": offset}
    answer = ctx.http.get(records_url(ctx), params=params).json()
    named = [
        {"id": record["id"], "name": str(record["fields"].get(primary, record["id"]))} for record in answer["records"]
    ]
    following = answer.get("offset")
    return Options(_options(ctx, named), {"offset": following} if following else None)


def _options(ctx: Context, tables: list[JsonObject]) -> list[Option]:
    return [Option(table["name"], table["id"]) for table in tables if ctx.query.lower() in table["name"].lower()]


def _tables(ctx: Context) -> list[JsonObject]:
    tables: list[JsonObject] = ctx.http.get(f"/meta/bases/{quote(ctx.props.base_id, safe='')}/tables").json()["tables"]
    return tables


def table(ctx: Context) -> JsonObject:
    """The chosen table with its fields and views. Raises :class:`ComponentError`."""
    for table in _tables(ctx):
        if ctx.props.table_id in (table["id"], table["name"]):
            return table
    raise ComponentError("The base has no such table. Choose another one.")


def records_url(ctx: Context, record: str = "") -> str:
    """The address of the records of the chosen table, or of one of them."""
    steps = (ctx.props.base_id, ctx.props.table_id, record)
    return "/" + "/".join(quote(step, safe="") for step in steps if step)


account = app("airtable")
base_prop = airtable_base("airtable", label="Base", options=find_bases, use_query=True)
table_prop = airtable_table("base_id", label="Table", options=find_tables, use_query=True)
record_prop = string(
    label="Record", description="Its id begins with rec.", options=find_records, use_query=True, with_label=True
)
