"""Telling which messages came since the last look, by the history that Gmail keeps of a mailbox.

Gmail keeps it for a week or more. Messages that are too many for one run wait in ``pending`` for the next.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from webapp.service.catalog.shared.polling import EXAMPLES
from webapp.service.components.authoring import ComponentError, Context, HttpError

from .common import MESSAGES, fetch

AT_ONCE: Final = 40
"""How many messages are fetched in one run."""
_GONE = 404
_PAGES = 20


def begin(ctx: Context, label: str) -> None:
    """Remember where the history stands, and emit the newest messages with ``label`` as examples."""
    ctx.db.set("at", _now(ctx))
    listed = ctx.http.get(MESSAGES, params={"labelIds": label, "maxResults": EXAMPLES}).json().get("messages", [])
    emit(ctx, [message["id"] for message in reversed(listed)])


def go_on(ctx: Context, label: str, kinds: Sequence[str]) -> None:
    """Emit the messages that came under ``label`` since the last look; ``kinds`` are what Gmail calls changes."""
    pending, at = ctx.db.get("pending", []), ctx.db.get("at")
    try:
        new, now = _since(ctx, at, label, kinds) if at else ([], _now(ctx))
    except HttpError as error:
        if error.status != _GONE:
            raise
        ctx.log("Gmail no longer knows what happened since the last check. Changes are noticed from now on.")
        new, now = [], _now(ctx)
    waiting = list(dict.fromkeys([*pending, *new]))
    emit(ctx, waiting[:AT_ONCE])
    ctx.db.set("pending", waiting[AT_ONCE:])
    ctx.db.set("at", now)


def emit(ctx: Context, ids: Iterable[str]) -> None:
    """Emit the messages, the oldest first; those that are deleted meanwhile are left out."""
    for id in ids:
        try:
            message = fetch(ctx, id)
        except HttpError as error:
            if error.status != _GONE:
                raise
            continue
        ctx.emit(message, id=id, summary=message["subject"] or message["snippet"] or "(no subject)")


def _now(ctx: Context) -> str:
    at: str = ctx.http.get("/users/me/profile").json()["historyId"]
    return at


def _since(ctx: Context, at: str, label: str, kinds: Sequence[str]) -> tuple[list[str], str]:
    """The ids of what was added, in order, and where the history stands now."""
    params: dict[str, Any] = {"startHistoryId": at, "labelId": label, "historyTypes": list(kinds), "maxResults": 500}
    ids: list[str] = []
    for _ in range(_PAGES):
        answer = ctx.http.get("/users/me/history", params=params).json()
        for change in answer.get("history", []):
            ids += [each["message"]["id"] for each in change.get("messagesAdded", [])]
            ids += [each["message"]["id"] for each in change.get("labelsAdded", []) if label in each["labelIds"]]
        if not answer.get("nextPageToken"):
            return ids, answer["historyId"]
        params["pageToken"] = answer["nextPageToken"]
    raise ComponentError("More happened in the mailbox than can be read at once. It is retried.")
