"""Telling which pages were created in a database since the last look."""

from webapp.service.catalog.shared.hints import epoch_ms
from webapp.service.catalog.shared.polling import EXAMPLES, last_time, unseen
from webapp.service.components.authoring import Context

from .common import query, title

NEWEST_FIRST = [{"timestamp": "created_time", "direction": "descending"}]
MOST = 500


def begin(ctx: Context) -> None:
    """Emit the newest pages of the database as examples, and remember where they end."""
    _emit(ctx, EXAMPLES)


def go_on(ctx: Context) -> None:
    """Emit the pages that were created since, the oldest first."""
    _emit(ctx, MOST)


def _emit(ctx: Context, most: int) -> None:
    since = last_time(ctx)
    later = {"timestamp": "created_time", "created_time": {"on_or_after": since}} if since else None
    pages = query(ctx, most, filter=later, sorts=NEWEST_FIRST)
    for page in unseen(ctx, pages, at=lambda page: str(page["created_time"])):
        ctx.emit(page, id=page["id"], summary=title(page), ts=epoch_ms(page["created_time"]))
