"""Change fields of a record."""

from collections.abc import Mapping
from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context, Prop

from ..common import account, base_prop, record_prop, records_url, table_prop
from ..fields import field_props, field_values


class UpdateRecord(Action):
    name = "Update record"
    description = (
        "Change fields of a record; those that you leave empty stay as they are. "
        "[See the documentation](https://airtable.com/developers/web/api/update-record)"
    )
    annotations = OVERWRITES

    airtable = account
    base_id = base_prop
    table_id = table_prop.but(reload_props=True)
    record_id = record_prop

    def reload(self, ctx: Context) -> Mapping[str, Prop]:
        return field_props(ctx)

    def run(self, ctx: Context) -> Any:
        record = ctx.http.patch(records_url(ctx, ctx.props.record_id), json={"fields": field_values(ctx)}).json()
        ctx.export("$summary", f"Changed the record {ctx.label('record_id') or record['id']}")
        return record
