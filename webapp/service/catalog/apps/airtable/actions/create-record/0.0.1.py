"""Create a record."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import CREATES
from webapp.service.components.authoring import Action, Context, Prop

from ..common import account, base_prop, records_url, table_prop
from ..fields import field_props, field_values


class CreateRecord(Action):
    name = "Create record"
    description = (
        "Create a record in a table, with a prop for each field that can be written. "
        "[See the documentation](https://airtable.com/developers/web/api/create-records)"
    )
    annotations = CREATES

    airtable = account
    base_id = base_prop
    table_id = table_prop.but(reload_props=True)

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        return field_props(ctx)

    def run(self, ctx: Context) -> Any:
        record = ctx.http.post(records_url(ctx), json={"fields": field_values(ctx)}).json()
        ctx.export("$summary", f"Created the record {record['id']}")
        return record
