"""What a declared trigger makes at its app, so that the app tells it of news: made, renewed before it ends, taken back.

A webhook is made when the trigger is switched on. A push is made by the first renewal, since its trigger polls as long
as it does not stand; and where apps cannot reach this service, it is never made.
"""

import secrets
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from webapp.kit.clock import SECOND, now
from webapp.service.components.declared import steps
from webapp.service.components.declared.filling import fill, shape
from webapp.service.components.declared.filters import FILTERS, as_text
from webapp.service.components.declared.request_form import Request
from webapp.service.components.declared.requests import ask, send
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import Scope, parse
from webapp.service.components.declared.trigger_form import MAKE, Push, Subscription
from webapp.service.components.errors import HttpError
from webapp.settings import is_loopback

HOOK, SECRET = "hook", "secret"
"""What a trigger remembers of it."""
_GONE = (404, 410)


def _activate(session: Session, subscription: Subscription) -> None:
    """Subscribe; a push only says that it is due, and forgets what stood for other values."""
    if not isinstance(subscription, Push):
        _subscribe(session, subscription)
    elif _is_reachable(session.call.endpoint):
        _forget(session)
        session.send({"ends": _now(session)})


def _renew(session: Session, subscription: Subscription) -> None:
    """Let the subscription go on, or put a new one in its place."""
    hook = session.memory.get(HOOK)
    if hook is not None and subscription.renew is not None:
        scope = _scope(session, subscription, hook=hook, secret=session.memory.get(SECRET))
        try:
            answer = ask(session, subscription.renew, scope)
        except HttpError as error:
            if error.status not in _GONE:
                raise
            session.log("The app does not know the subscription any more, so a new one is made.")
        else:
            _tell_its_end(session, subscription, {**scope, "$answer": answer})
            return
    old_secret = session.memory.get(SECRET)
    _subscribe(session, subscription)
    if hook is not None and subscription.renew is None:
        try:
            _take_back(session, subscription, hook, old_secret)
        except HttpError as error:
            session.log(f"The one before could not be taken back, and ends by itself: {error}")


def _deactivate(session: Session, subscription: Subscription) -> None:
    """Take the subscription back, which may be gone already."""
    hook, secret = session.memory.get(HOOK), session.memory.get(SECRET)
    if subscription.lasts is not None:  # it ends by itself, whatever comes of this
        _forget(session)
    if hook is not None:
        try:
            _take_back(session, subscription, hook, secret)
        except HttpError as error:
            if error.status is None:
                raise
            sentence = f"The webhook could not be removed: the app answered with status {error.status}."
            raise HttpError(sentence, error.status, error.body) from None
    _forget(session)


METHODS: Mapping[str, Callable[[Session, Subscription], None]] = {
    "activate": _activate, "renew": _renew, "deactivate": _deactivate,
}  # fmt: skip


def _subscribe(session: Session, subscription: Subscription) -> None:
    steps.take(session, subscription.steps)
    makes_one = subscription.secret == MAKE and not subscription.is_told_secret
    secret = secrets.token_urlsafe(32) if makes_one else None
    scope = _scope(session, subscription, secret=secret)
    scope = {**scope, "$answer": ask(session, subscription.subscribe, scope)}
    hook = shape(subscription.id, scope)
    session.memory.set(HOOK, hook if hook is None or isinstance(hook, Mapping) else as_text(hook))
    if not subscription.is_told_secret:
        session.memory.set(SECRET, secret or as_text(parse(subscription.secret).value(scope) or ""))
    _tell_its_end(session, subscription, scope)


def _take_back(session: Session, subscription: Subscription, hook: Any, secret: Any) -> None:
    request: Request = subscription.unsubscribe
    gone = request.model_copy(update={"allow": (*request.allow, *_GONE)})
    send(session, gone, _scope(session, subscription, hook=hook, secret=secret))


def _forget(session: Session) -> None:
    session.memory.set(HOOK, None)
    session.memory.set(SECRET, None)


def _scope(session: Session, subscription: Subscription, **more: Any) -> Scope:
    """What the requests of a subscription may look at."""
    if isinstance(subscription, Push):
        session.scope["$values"] = {name: fill(value, session.scope) for name, value in subscription.values.items()}
    until = None if subscription.lasts is None else _now(session) + subscription.lasts * SECOND
    return session.with_(until=until, channel=str(uuid.uuid4()), **more)


def _tell_its_end(session: Session, subscription: Subscription, scope: Scope) -> None:
    """Say when it ends, so that it is renewed before."""
    if subscription.lasts is not None:
        ends = FILTERS["ms"].apply(parse(subscription.ends).value(scope)) if subscription.ends else None
        session.send({"ends": ends or scope["$until"]})


def _now(session: Session) -> int:
    """The time of the call, where it says so."""
    at: int = (session.call.event or {}).get("timestamp") or now()
    return at


def _is_reachable(endpoint: str | None) -> bool:
    """Whether an app may be told to send to ``endpoint``: apps take public addresses with https alone."""
    parts = urlsplit(endpoint or "")
    return parts.scheme == "https" and not is_loopback(parts.hostname or "")
