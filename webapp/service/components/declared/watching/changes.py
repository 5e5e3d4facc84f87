"""What changed in a list since the last look, by the token that its app gives for that.

A token tells every change after it. Where an app has forgotten one, what changed since the last look is asked of the
list itself, and little is lost: what comes twice thereby is emitted once.
"""

from typing import Any

from webapp.kit.clock import DAY, MINUTE, iso, now
from webapp.service.components.declared.filters import FILTERS
from webapp.service.components.declared.paging import gather
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import parse
from webapp.service.components.declared.trigger_form import Poll, Sync
from webapp.service.components.errors import ComponentError, HttpError
from webapp.service.outbound.outcomes import at_path

SLACK = 5 * MINUTE
"""By how much a look goes back behind the one before: apps and we may have other clocks."""
_MOST = 10_000
_TOKEN, _SINCE = "token", "since"


def since_last_look(session: Session, poll: Poll, *, first: bool) -> list[Any]:
    """The items of ``poll`` that changed; at the ``first`` look, those that changed lately, the latest last.

    Raises :class:`ComponentError`.
    """
    sync, at = poll.sync, _now(session)
    assert sync is not None
    known, since = session.memory.get(_TOKEN), session.memory.get(_SINCE)
    if first or not known:
        token = _walked(session, poll, sync, sync.start)[1]
        items = _lately(session, poll, iso(at - sync.days * DAY)) if first else []
    else:
        items, token = _changed(session, poll, sync, known, since)
    session.memory.set(_TOKEN, token)
    session.memory.set(_SINCE, iso(at - SLACK))
    return items if first else [item for item in items if _is_new(session, sync, item, since)]


def _changed(session: Session, poll: Poll, sync: Sync, token: str, since: str | None) -> tuple[list[Any], str]:
    try:
        return _walked(session, poll, sync, {**sync.params, sync.param: token})
    except HttpError as error:
        if error.status not in sync.gone:
            raise
    session.log("The app has forgotten what changed since the last look, so the list itself is looked at.")
    later = _walked(session, poll, sync, sync.start)[1]
    try:
        return (_lately(session, poll, max(since, iso(_now(session) - sync.days * DAY))) if since else []), later
    except HttpError as error:
        if error.status not in sync.gone:
            raise
    session.log("It does not tell either what changed so long ago. It is looked at from now on.")
    return [], later


def _walked(session: Session, poll: Poll, sync: Sync, params: dict[str, Any]) -> tuple[list[Any], str]:
    """All items of the list with other ``params``, and the token behind them."""
    pages = poll.pages.model_copy(update={"most": _MOST}) if poll.pages else None
    items, last = gather(session, poll.model_copy(update={"params": params, "pages": pages}), session.scope)
    token = at_path(last, sync.next)
    if not isinstance(token, str) or not token:
        raise ComponentError("The list holds more than can be looked through at once. Choose a smaller one.")
    return items, token


def _lately(session: Session, poll: Poll, since: str) -> list[Any]:
    items = gather(session, poll, session.with_(since=since))[0]
    return items if poll.order == "oldest" else items[::-1]


def _is_new(session: Session, sync: Sync, item: Any, since: str | None) -> bool:
    """Whether ``item`` was made since the look before; all are where nobody asks."""
    if not sync.new or since is None:
        return True
    created, before = (FILTERS["ms"].apply(value) for value in (parse(sync.new).value(session.with_(item=item)), since))
    return created is None or created >= before


def _now(session: Session) -> int:
    at: int = (session.call.event or {}).get("timestamp") or now()
    return at
