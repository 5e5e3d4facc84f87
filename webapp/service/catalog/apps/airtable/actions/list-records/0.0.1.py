"""Read records."""

from typing import Any

from webapp.service.catalog.shared.hints import READS, counted
from webapp.service.components.authoring import (
    Action,
    Context,
    Option,
    airtable_field,
    airtable_view,
    integer,
    string,
)

from ..common import account, base_prop, find_fields, find_views, records_url, table_prop


class ListRecords(Action):
    name = "List records"
    description = (
        "Read the records of a table or view, all of them or those for which a formula is true. "
        "[See the documentation](https://airtable.com/developers/web/api/list-records)"
    )
    annotations = READS

    airtable = account
    base_id = base_prop
    table_id = table_prop
    view_id = airtable_view("table_id", label="View", options=find_views, optional=True)
    formula = string(label="Formula", description="Such as {Status} = 'Done'.", optional=True)
    sort_field_id = airtable_field("table_id", label="Sort by", options=find_fields, optional=True)
    direction = string(
        label="Order", default="asc", options=[Option("Ascending", "asc"), Option("Descending", "desc")], optional=True
    )
    most = integer(label="At most", default=100, min=1, max=1000, optional=True)

    def run(self, ctx: Context) -> Any:
        props, records, offset = ctx.props, [], None
        while True:
            answer = ctx.http.get(
                records_url(ctx),
                params={
                    "view": props.view_id,
                    "filterByFormula": props.formula,
                    "sort[0][field]": props.sort_field_id,
                    "sort[0][direction]": props.direction if props.sort_field_id else None,
                    "maxRecords": props.most,
                    "offset": offset,
                },
            ).json()
            records += answer["records"]
            offset = answer.get("offset")
            if not offset:
                break
        ctx.export("$summary", f"Read {counted(records, 'record')}")
        return records
