"""Runs declared triggers: polls lists for new or changed items, and reads requests of webhooks and app events."""

from collections.abc import Iterator, Mapping
from typing import Any

from webapp.kit.clock import DAY, MINUTE, iso, now
from webapp.service.components.declared import steps, webhooks
from webapp.service.components.declared.filters import FILTERS, as_text
from webapp.service.components.declared.form import AppHook, Challenge, Inner, Poll, Sync, TriggerForm, Webhook
from webapp.service.components.declared.paging import gather, page
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import Scope, fill, parse, shape
from webapp.service.components.declared.webhooks import SECRET, fits
from webapp.service.components.errors import ComponentError, HttpError
from webapp.service.outbound.bodies import at_path

SLACK = 5 * MINUTE  # by which a poll overlaps the one before, since the clock of an app may differ from ours
REMEMBERED = 5_000  # ids of a list without times; all of the list if it is longer
_MOST = 10_000
_TOKEN, _SINCE = "token", "since"
_MARK, _SEEN = "mark", "seen"


def _changes_since_last_poll(session: Session, poll: Poll, *, first: bool) -> list[Any]:
    """Return the changed items of ``poll``; at the ``first`` poll, the recently changed ones, the latest last.

    Raises :class:`ComponentError`.
    """
    sync, at = poll.sync, _now(session)
    assert sync is not None
    known, since = session.memory.get(_TOKEN), session.memory.get(_SINCE)
    if first or not known:
        token = _all_pages(session, poll, sync, sync.start)[1]
        items = _recent(session, poll, iso(at - sync.days * DAY)) if first else []
    else:
        items, token = _changed(session, poll, sync, known, since)
    session.memory.set(_TOKEN, token)
    session.memory.set(_SINCE, iso(at - SLACK))
    return items if first else [item for item in items if _is_new(session, sync, item, since)]


def _changed(session: Session, poll: Poll, sync: Sync, token: str, since: str | None) -> tuple[list[Any], str]:
    try:
        return _all_pages(session, poll, sync, {**sync.params, sync.param: token})
    except HttpError as error:
        if error.status not in sync.gone:
            raise
    session.log("The app no longer knows what changed since the last check, so the list itself is read.")
    later = _all_pages(session, poll, sync, sync.start)[1]
    try:
        return (_recent(session, poll, max(since, iso(_now(session) - sync.days * DAY))) if since else []), later
    except HttpError as error:
        if error.status not in sync.gone:
            raise
    session.log("It does not say either what changed so long ago. Changes are noticed from now on.")
    return [], later


def _all_pages(session: Session, poll: Poll, sync: Sync, params: dict[str, Any]) -> tuple[list[Any], str]:
    """All items of the list with ``params``, and the token of its last page."""
    pages = poll.pages.model_copy(update={"most": _MOST}) if poll.pages else None
    items, last = gather(session, poll.model_copy(update={"params": params, "pages": pages}), session.scope)
    token = at_path(last, sync.next)
    if not isinstance(token, str) or not token:
        raise ComponentError("The list contains more than can be searched at once. Choose a smaller one.")
    return items, token


def _recent(session: Session, poll: Poll, since: str) -> list[Any]:
    items = gather(session, poll, session.with_(since=since))[0]
    return items if poll.order == "oldest" else items[::-1]


def _is_new(session: Session, sync: Sync, item: Any, since: str | None) -> bool:
    """Whether ``item`` was created since the last poll; True if the form does not compare that."""
    if not sync.new or since is None:
        return True
    created, before = (FILTERS["ms"].apply(value) for value in (parse(sync.new).value(session.with_(item=item)), since))
    return created is None or created >= before


def _now(session: Session) -> int:
    at: int = (session.call.event or {}).get("timestamp") or now()
    return at


def perform(session: Session, form: TriggerForm, method: str) -> bool | None:
    """Call ``method`` of the trigger; ``deactivate`` returns whether nothing can be left at the app.

    Raises :class:`ComponentError`.
    """
    if form.subscription is not None and method in webhooks.METHODS:
        return webhooks.METHODS[method](session, form.subscription)
    if form.poll is not None:
        (_poll_changes if form.poll.sync else _poll_list)(session, form, form.poll, first=method == "deploy")
    elif form.webhook is not None:
        _receive(session, form, form.webhook)
    elif form.apphook is not None and method == "run":
        _emit_app_event(session, form, form.apphook)
    return None


def _poll_list(session: Session, form: TriggerForm, poll: Poll, *, first: bool) -> None:
    """Emit new items, the oldest first, and remember them; at the first poll, emit a few as examples."""
    mark = session.memory.get(_MARK) or {"at": "", "ids": []}
    steps.take(session, poll.steps)
    scope = session.with_(since=mark["at"] or None)
    newest_at_once = first and form.time is not None and poll.order == "newest"
    items = page(session, poll, scope).items if newest_at_once else gather(session, poll, scope)[0]
    newest_first = items if poll.order == "newest" else items[::-1]
    rows = [session.with_(item=item) for item in reversed(newest_first)]
    if poll.inner is not None:
        rows = list(_inner_rows(session, poll.inner, rows, mark["at"]))
    seen = session.memory.get(_SEEN, [])
    new = list(_later(form, rows, mark) if form.time else _unseen(form, rows, seen))
    for row in new[max(0, len(new) - poll.first) :] if first else new:
        _emit(session, form, row, row["$item"])
    if not new:
        return
    if form.time is None:
        session.memory.set(_SEEN, _remembered(seen, dict.fromkeys(_id(form, row) for row in rows)))
        return
    newest = _time(form, new[-1])
    ids = [_id(form, row) for row in new if _time(form, row) == newest]
    session.memory.set(_MARK, {"at": newest, "ids": ids + (mark["ids"] if newest == mark["at"] else [])})


def _inner_rows(session: Session, inner: Inner, rows: list[Scope], since: str) -> Iterator[Scope]:
    """A row for each item of the lists of ``rows`` that changed since."""
    for row in rows:
        if _sortable(parse(inner.changed).value(row)) >= since:
            yield from ({**row, "$item": item, "$outer": row["$item"]} for item in gather(session, inner, row)[0])


def _poll_changes(session: Session, form: TriggerForm, poll: Poll, *, first: bool) -> None:
    """Emit items changed since the last poll; at the first poll, emit a few recent ones as examples."""
    steps.take(session, poll.steps)
    items = _changes_since_last_poll(session, poll, first=first)
    for item in items[max(0, len(items) - poll.first) :] if first else items:
        _emit(session, form, session.with_(item=item), item)


def _later(form: TriggerForm, rows: list[Scope], mark: Mapping[str, Any]) -> list[Scope]:
    """The rows newer than all before, by time. Rows with the newest time so far are distinguished by id."""
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
    """The ids to remember: all that are listed now, and the latest of those no longer listed."""
    return [*(id for id in seen if id not in listed), *listed][-max(REMEMBERED, len(listed)) :]


def _id(form: TriggerForm, scope: Scope) -> str:
    return parse(form.id).text(scope)


def _time(form: TriggerForm, scope: Scope) -> str:
    """The app's time as text that sorts by time."""
    return _sortable(parse(form.time or "").value(scope))


def _sortable(value: Any) -> str:
    return f"{value:020d}" if isinstance(value, int) else as_text(value) if value is not None else ""


def _emit(session: Session, form: TriggerForm, scope: Scope, event: Any) -> None:
    moment = FILTERS["ms"].apply(parse(form.time).value(scope)) if form.time else None
    emitted = event if form.event is None else shape(form.event, scope)
    session.emit(emitted, _id(form, scope), parse(form.summary).text(scope).strip(), moment)


def _receive(session: Session, form: TriggerForm, webhook: Webhook) -> None:
    """Emit the events of a request, and respond to it if the trigger does so itself."""
    event = session.call.event or {}
    if "headers" not in event:
        return  # a tick
    scope = session.with_(event=event)
    if webhook.challenge is not None and steps.holds(session, webhook.challenge.only_if, event=event):
        _answer_challenge(session, webhook.challenge, scope)
        return
    if not _is_signed(session, webhook, event):
        if form.answers:
            session.respond(401, "The signature does not fit.")
        return
    if steps.is_as_wanted(event, webhook.accept, scope):
        for row in steps.with_details(session, webhook.details, _event_scopes(webhook, scope)):
            _emit(session, form, row, row.get("$item", event.get("body")))
    if form.answers:
        session.respond(200, "")


def _answer_challenge(session: Session, challenge: Challenge, scope: Scope) -> None:
    """Respond to a challenge, and keep the secret that it carries unless there is one."""
    if challenge.secret:
        secret = as_text(parse(challenge.secret).value(scope) or "")
        known = session.memory.get(SECRET)
        if not secret or known not in (None, "", secret):
            session.log("A request was refused: its secret is not the webhook's.")
            session.respond(401, "This address has another secret.")
            return
        session.memory.set(SECRET, secret)
    headers = {name: as_text(value) for name, value in (fill(challenge.headers, scope) or {}).items()}
    session.respond(200, fill(challenge.answer, scope), headers)


def _is_signed(session: Session, webhook: Webhook, event: Mapping[str, Any]) -> bool:
    """Whether the request is signed as the form requires; logs a request that is not."""
    if webhook.signature is None:
        return True
    secret = session.memory.get(SECRET)
    if not secret:
        raise ComponentError("A request came before the webhook was in place. It is tried again.")
    if fits(webhook.signature, secret, event):
        return True
    by = webhook.signature.by
    session.log(f"A request was ignored: its signature is not the one of {by}, or the secret has changed.")
    return False


def _event_scopes(webhook: Webhook, scope: Scope) -> list[Scope]:
    """One scope for each event in a request."""
    if not webhook.items:
        return [scope]
    items = parse(webhook.items).value(scope)
    return [{**scope, "$item": item} for item in (items if isinstance(items, list) else [])]


def _emit_app_event(session: Session, form: TriggerForm, apphook: AppHook) -> None:
    """Emit an event of the app. Its sender, and that the account may see it, were checked before."""
    event = session.call.event or {}
    scope = session.with_(event=event)
    if steps.is_as_wanted(event, apphook.accept, scope):
        for row in steps.with_details(session, apphook.details, [scope]):
            _emit(session, form, row, event.get("body"))
