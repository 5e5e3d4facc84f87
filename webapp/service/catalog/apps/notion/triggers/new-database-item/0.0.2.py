"""Emits pages that appear in a database, and looks at once when Notion says that a page was created."""

from webapp.service.components.authoring import Context, Trigger, apphook, service_db, timer

from .. import new_items
from ..common import account, database_prop


class NewDatabaseItem(Trigger):
    name = "New database item"
    description = (
        "Each page that is created in a database, at once where the OAuth client gets the webhooks of Notion, "
        "otherwise by polling. "
        "[See the documentation](https://developers.notion.com/reference/query-a-data-source)"
    )
    dedupe = "unique"

    notion = account
    database_id = database_prop
    timer = timer(default={"intervalSeconds": 300})
    hook = apphook("notion", ["page.created"], polls=True)
    db = service_db()

    def deploy(self, ctx: Context) -> None:
        new_items.begin(ctx)

    def run(self, ctx: Context) -> None:
        new_items.go_on(ctx)
