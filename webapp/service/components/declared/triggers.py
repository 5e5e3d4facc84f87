"""Declared triggers: looking at a list for what is new, or being told by a webhook.

What they remember has the names that triggers in code have (``mark``, ``hook``, ``secret``), so that one that was code
and is data now goes on where it was.
"""

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from webapp.service.components.declared.filling import fill, shape
from webapp.service.components.declared.filters import FILTERS, as_text
from webapp.service.components.declared.paging import gather, page
from webapp.service.components.declared.requests import ask, send
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.signatures import fits
from webapp.service.components.declared.templates import Scope, parse
from webapp.service.components.declared.trigger_form import MAKE, Poll, TriggerForm, Webhook
from webapp.service.components.errors import ComponentError, HttpError
from webapp.service.outbound.outcomes import at_path

REMEMBERED = 5_000
"""How many ids a trigger remembers whose list has no times; all of its list, where that is longer."""
_MARK, _SEEN, _HOOK, _SECRET = "mark", "seen", "hook", "secret"
_GONE = (404, 410)


def perform(session: Session, form: TriggerForm, method: str) -> None:
    """Call ``method`` of the trigger. Raises :class:`ComponentError`."""
    if form.poll is not None:
        _look(session, form, form.poll, first=method == "deploy")
    elif form.webhook is not None:
        _HOOKS.get(method, _receive)(session, form, form.webhook)


def _look(session: Session, form: TriggerForm, poll: Poll, *, first: bool) -> None:
    """Emit what is new, the oldest first, and remember it; of what is there already, a few as examples."""
    mark = session.memory.get(_MARK) or {"at": "", "ids": []}
    scope = session.with_(since=mark["at"] or None)
    newest_at_once = first and form.time is not None and poll.order == "newest"
    items = page(session, poll, scope).items if newest_at_once else gather(session, poll, scope)[0]
    newest_first = items if poll.order == "newest" else items[::-1]
    rows = [session.with_(item=item) for item in reversed(newest_first)]
    seen = session.memory.get(_SEEN, [])
    new = list(_later(form, rows, mark) if form.time else _unseen(form, rows, seen))
    for row in new[len(new) - poll.first :] if first else new:
        _emit(session, form, row, row["$item"])
    if not new:
        return
    if form.time is None:
        session.memory.set(_SEEN, _remembered(seen, dict.fromkeys(_id(form, row) for row in rows)))
        return
    newest = _time(form, new[-1])
    ids = [_id(form, row) for row in new if _time(form, row) == newest]
    session.memory.set(_MARK, {"at": newest, "ids": ids + (mark["ids"] if newest == mark["at"] else [])})


def _later(form: TriggerForm, rows: list[Scope], mark: Mapping[str, Any]) -> list[Scope]:
    """Those that are newer than every one before, by time. Several may bear the newest, so these are told by id."""
    later = {_id(form, row): row for row in rows if _time(form, row) >= mark["at"]}
    known = {str(id) for id in mark["ids"]}
    new = [row for id, row in later.items() if _time(form, row) > mark["at"] or id not in known]
    return sorted(new, key=lambda row: _time(form, row))


def _unseen(form: TriggerForm, rows: list[Scope], seen: list[str]) -> Iterator[Scope]:
    known = set(seen)
    for id, row in {_id(form, row): row for row in rows}.items():
        if id not in known:
            yield row


def _remembered(seen: list[str], listed: Mapping[str, None]) -> list[str]:
    """The ids to remember: all that are listed now, and the latest of those that no longer are."""
    return [*(id for id in seen if id not in listed), *listed][-max(REMEMBERED, len(listed)) :]


def _id(form: TriggerForm, scope: Scope) -> str:
    return parse(form.id).text(scope)


def _time(form: TriggerForm, scope: Scope) -> str:
    """As text that sorts by time, as the app writes it."""
    value = parse(form.time or "").value(scope)
    return f"{value:020d}" if isinstance(value, int) else as_text(value) if value is not None else ""


def _emit(session: Session, form: TriggerForm, scope: Scope, event: Any) -> None:
    moment = FILTERS["ms"].apply(parse(form.time).value(scope)) if form.time else None
    emitted = event if form.event is None else shape(form.event, scope)
    session.emit(emitted, _id(form, scope), parse(form.summary).text(scope).strip(), moment)


def _subscribe(session: Session, form: TriggerForm, webhook: Webhook) -> None:
    secret = secrets.token_urlsafe(32) if webhook.secret == MAKE else None
    answer = ask(session, webhook.subscribe, session.with_(secret=secret))
    scope = session.with_(answer=answer, secret=secret)
    hook = parse(webhook.id).value(scope)
    session.memory.set(_HOOK, None if hook is None else as_text(hook))
    session.memory.set(_SECRET, secret or as_text(parse(webhook.secret).value(scope) or ""))


def _unsubscribe(session: Session, form: TriggerForm, webhook: Webhook) -> None:
    """Take the webhook back, which may be gone already."""
    hook = session.memory.get(_HOOK)
    if hook is not None:
        gone = webhook.unsubscribe.model_copy(update={"allow": (*webhook.unsubscribe.allow, *_GONE)})
        try:
            send(session, gone, session.with_(hook=hook, secret=session.memory.get(_SECRET)))
        except HttpError as error:
            if error.status is None:
                raise
            sentence = f"The webhook could not be removed: the app answered with status {error.status}."
            raise HttpError(sentence, error.status, error.body) from None
    session.memory.set(_HOOK, None)
    session.memory.set(_SECRET, None)


def _receive(session: Session, form: TriggerForm, webhook: Webhook) -> None:
    """Emit what a request tells; on a tick, keep the webhook alive."""
    event = session.call.event or {}
    secret = session.memory.get(_SECRET)
    if "headers" not in event:
        if webhook.renew is not None and session.memory.get(_HOOK) is not None:
            send(session, webhook.renew, session.with_(hook=session.memory.get(_HOOK), secret=secret))
        return
    if webhook.signature is not None:
        if not secret:
            raise ComponentError("A request came before the webhook was in place. It is tried again.")
        if not fits(webhook.signature, secret, event):
            by = webhook.signature.by
            session.log(f"A request was ignored: its signature is not the one of {by}, or the secret has changed.")
            return
    scope = session.with_(event=event)
    if all(_is_accepted(event, path, fill(wanted, scope)) for path, wanted in webhook.accept.items()):
        _emit(session, form, scope, event.get("body"))


def _is_accepted(event: Any, path: str, wanted: Any) -> bool:
    """Whether the member is what is wanted, or one of it; nothing is wanted where a template comes to nothing."""
    if wanted in (None, "", []):
        return True
    return at_path(event, path) in (wanted if isinstance(wanted, list) else [wanted])


_HOOKS = {"activate": _subscribe, "deactivate": _unsubscribe}
