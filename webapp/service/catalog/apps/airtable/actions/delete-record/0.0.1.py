"""Delete a record."""

from typing import Any

from webapp.service.catalog.shared.hints import OVERWRITES
from webapp.service.components.authoring import Action, Context

from ..common import account, base_prop, record_prop, records_url, table_prop


class DeleteRecord(Action):
    name = "Delete record"
    description = (
        "Delete a record from a table. [See the documentation](https://airtable.com/developers/web/api/delete-record)"
    )
    annotations = OVERWRITES

    airtable = account
    base_id = base_prop
    table_id = table_prop
    record_id = record_prop

    def run(self, ctx: Context) -> Any:
        deleted = ctx.http.delete(records_url(ctx, ctx.props.record_id)).json()
        ctx.export("$summary", f"Deleted the record {ctx.label('record_id') or deleted['id']}")
        return deleted
