"""Emits pages that appear in a database."""

from webapp.service.components.authoring import Context, Trigger, service_db, timer

from .. import new_items
from ..common import account, database_prop


class NewDatabaseItem(Trigger):
    name = "New database item"
    description = (
        "Each page that is created in a database. "
        "[See the documentation](https://developers.notion.com/reference/query-a-data-source)"
    )
    dedupe = "unique"

    notion = account
    database_id = database_prop
    timer = timer(default={"intervalSeconds": 300})
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        new_items.begin(ctx)

    def run(self, ctx: Context) -> None:
        new_items.go_on(ctx)
