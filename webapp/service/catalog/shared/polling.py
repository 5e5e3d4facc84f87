"""For triggers that poll: which rows are new by their time, and where the last run stopped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from webapp.service.components.authoring import Context
from webapp.service.components.limits import EXAMPLES as EXAMPLES

Row = Mapping[str, Any]
_MARK = "mark"


def last_time(ctx: Context) -> str | None:
    """The time of the newest thing that :func:`unseen` has told of; None before the first."""
    mark = ctx.db.get(_MARK)
    return mark["at"] if mark else None


def unseen(ctx: Context, rows: Sequence[Row], *, at: Callable[[Row], str], id: str = "id") -> Iterator[Row]:
    """Those of ``rows`` that are newer than every row seen before, oldest first. At the end, they count as seen.

    ``rows`` are listed with the newest first, or nearly so, and may hold one twice. ``at`` gives the time of a row as
    text that sorts by time, such as ISO 8601 in UTC. Several rows may bear the same time, so those of the newest one
    are remembered by their ``id``.
    """
    mark = ctx.db.get(_MARK) or {"at": "", "ids": []}
    later = {row[id]: row for row in reversed(rows) if at(row) >= mark["at"]}
    new = sorted((row for row in later.values() if at(row) > mark["at"] or row[id] not in mark["ids"]), key=at)
    yield from new
    if new:  # remembered only now, so that a run that ends half-way loses none
        newest = at(new[-1])
        ids = [row[id] for row in new if at(row) == newest]
        ctx.db.set(_MARK, {"at": newest, "ids": ids + (mark["ids"] if newest == mark["at"] else [])})
