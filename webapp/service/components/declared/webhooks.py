"""What a declared trigger makes, renews and removes at its app, and whether a request that comes is the app's.

Signatures and the secrets of pushes are compared in constant time.
"""

import base64
import hashlib
import hmac
import secrets
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from webapp.kit.clock import SECOND, now
from webapp.service.components.declared import steps
from webapp.service.components.declared.filters import FILTERS, as_text
from webapp.service.components.declared.form import MAKE, Push, Request, Signature, Subscription
from webapp.service.components.declared.requests import ask, send
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import EMPTY, Scope, fill, parse, shape
from webapp.service.components.errors import HttpError
from webapp.service.outbound.outcomes import at_path
from webapp.settings import is_loopback

_HASHES = {"hmac-sha256": hashlib.sha256, "hmac-sha1": hashlib.sha1}
_UNITS = {"s": SECOND, "ms": 1}
HOOK, SECRET = "hook", "secret"


def fits(signature: Signature, secret: str, event: Mapping[str, Any]) -> bool:
    """Whether ``event``, a request as it came, is signed with ``secret``, and lately where it says when."""
    headers = event.get("headers") or {}
    text = str(headers.get(signature.header.lower(), ""))
    if signature.scheme == "token":
        return _equal(text, signature.prefix + secret)
    sent_at, candidates = _parts(signature, text, event)
    is_timed = signature.time_header or signature.time_member or signature.pairs
    if is_timed and not _is_recent(sent_at, event, signature):
        return False
    scope = {name: event.get(name[1:]) or "" for name in ("$method", "$url")}
    signed = parse(signature.signed).text({**scope, "$body": event.get("bodyRaw") or "", "$time": sent_at})
    digest = hmac.new(secret.encode(), signed.encode(), _HASHES[signature.scheme]).digest()
    plain = digest.hex() if signature.encoding == "hex" else base64.b64encode(digest).decode("ascii")
    return any(_equal(candidate, signature.prefix + plain) for candidate in candidates)


def _parts(signature: Signature, text: str, event: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The signed time and the signatures that came."""
    if signature.time_member:
        return str(at_path(event.get("body"), signature.time_member)), [text]
    if not signature.pairs:
        return str((event.get("headers") or {}).get(signature.time_header.lower(), "")), [text]
    pairs = [part.strip().partition("=") for part in text.split(",")]
    sent_at = next((value for name, _, value in pairs if name == "t"), "")
    return sent_at, [value for name, _, value in pairs if name == "v1"]


def _is_recent(sent_at: str, event: Mapping[str, Any], signature: Signature) -> bool:
    if not (sent_at.isascii() and sent_at.isdigit()) or len(sent_at) > 15:
        return False
    received_at: int = event.get("timestamp") or now()
    return abs(received_at - int(sent_at) * _UNITS[signature.time_unit]) <= signature.tolerance * SECOND


def _equal(signature: str, expected: str) -> bool:
    return hmac.compare_digest(signature.encode(), expected.encode())


@dataclass(frozen=True, slots=True)
class Notification:
    """What a request asks for: ``look`` for what is new, ``renew`` the subscription."""

    look: bool
    renew: bool


def challenge_answer(push: Push, event: Mapping[str, Any]) -> str | None:
    """What ``event`` is answered where the app asks by it whether the address is ours; else None."""
    scope = {"$event": event}
    if push.challenge is None or not _holds(push.challenge.only_if, scope):
        return None
    return as_text(fill(push.challenge.answer, scope))


def read(push: Push, secret: str, event: Mapping[str, Any]) -> Notification | None:
    """What ``event``, a request as it came, asks for; None where nothing in it bears ``secret``."""
    scopes: list[Scope] = [{"$event": event}]
    if push.items:
        items = parse(push.items).value(scopes[0])
        scopes = [{"$event": event, "$item": item} for item in (items if isinstance(items, list) else [])]
    genuine = [scope for scope in scopes if _is_secret(parse(push.token).value(scope), secret)]
    if not genuine:
        return None
    counted = [scope for scope in genuine if not _holds(push.ignore_if, scope)]
    return Notification(bool(counted), any(_holds(push.renew_if, scope) for scope in counted))


def _is_secret(token: Any, secret: str) -> bool:
    return isinstance(token, str) and hmac.compare_digest(token.encode(errors="replace"), secret.encode())


def _holds(condition: str, scope: Scope) -> bool:
    return bool(condition) and parse(condition).value(scope) not in (*EMPTY, False)


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
