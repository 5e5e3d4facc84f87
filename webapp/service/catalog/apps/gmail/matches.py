"""Telling which messages a search of Gmail finds anew, by the ids that were seen."""

from collections.abc import Callable, Iterable
from typing import Final

from webapp.service.catalog.shared.polling import EXAMPLES
from webapp.service.components.authoring import Context

from .common import MESSAGES
from .history import AT_ONCE

Emit = Callable[[Context, Iterable[str]], None]
_LISTED: Final = 100
_REMEMBERED: Final = 2_000


def begin(ctx: Context, q: str, emit: Emit) -> None:
    """Remember what the search ``q`` finds, and ``emit`` the newest of it as examples."""
    ids = _listed(ctx, q)
    emit(ctx, reversed(ids[:EXAMPLES]))
    ctx.db.set("seen", ids)


def go_on(ctx: Context, q: str, emit: Emit) -> None:
    """``emit`` what the search ``q`` finds and did not find before, the oldest first."""
    seen = ctx.db.get("seen", [])
    new = [id for id in reversed(_listed(ctx, q)) if id not in set(seen)][:AT_ONCE]
    emit(ctx, new)
    ctx.db.set("seen", [*reversed(new), *seen][:_REMEMBERED])


def _listed(ctx: Context, q: str) -> list[str]:
    """The ids of the newest messages that the search finds, the newest first."""
    answer = ctx.http.get(MESSAGES, params={"q": q, "maxResults": _LISTED}).json()
    return [message["id"] for message in answer.get("messages", [])]
