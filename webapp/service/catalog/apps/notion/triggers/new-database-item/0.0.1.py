"""Emits pages that appear in a database."""

from webapp.service.catalog.shared.hints import epoch_ms
from webapp.service.catalog.shared.polling import EXAMPLES, last_time, unseen
from webapp.service.components.authoring import Context, Trigger, service_db, timer

from ..common import account, database_prop, query, title

NEWEST_FIRST = [{"timestamp": "created_time", "direction": "descending"}]
MOST = 500


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
        self._emit(ctx, EXAMPLES)

    def run(self, ctx: Context) -> None:
        self._emit(ctx, MOST)

    def _emit(self, ctx: Context, most: int) -> None:
        since = last_time(ctx)
        later = {"timestamp": "created_time", "created_time": {"on_or_after": since}} if since else None
        pages = query(ctx, most, filter=later, sorts=NEWEST_FIRST)
        for page in unseen(ctx, pages, at=lambda page: str(page["created_time"])):
            ctx.emit(page, id=page["id"], summary=title(page), ts=epoch_ms(page["created_time"]))
