"""Creates, renews and deletes subscriptions of declared triggers, and verifies requests of apps.

Signatures and the secrets of pushes are compared in constant time.
"""

import base64
import hashlib
import hmac
import secrets
import uuid
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from webapp.kit.clock import SECOND, now
from webapp.kit.networks import is_loopback
from webapp.service.components.declared import steps
from webapp.service.components.declared.filters import FILTERS, as_text
from webapp.service.components.declared.form import MAKE, Push, Request, Signature, Subscription
from webapp.service.components.declared.paging import gather
from webapp.service.components.declared.requests import ask, send
from webapp.service.components.declared.session import Session
from webapp.service.components.declared.templates import EMPTY, Scope, fill, parse, shape
from webapp.service.components.errors import ComponentError, HttpError
from webapp.service.outbound.bodies import at_path

_HASHES = {"hmac-sha256": hashlib.sha256, "hmac-sha1": hashlib.sha1}
_UNITS = {"s": SECOND, "ms": 1}
HOOK, SECRET = "hook", "secret"  # keys of a trigger's state
GONE = (404, 410)
"""The answers by which an app says that a subscription is not there any more."""
_LEEWAY_S = 60  # by which the clock of an app may differ from ours


def fits(signature: Signature, secret: str, event: Mapping[str, Any]) -> bool:
    """Whether the request ``event`` is signed with ``secret`` and, if it has a signed time, is recent."""
    headers = event.get("headers") or {}
    text = str(headers.get(signature.header.lower(), ""))
    if signature.scheme == "token":
        return _equal(text, signature.prefix + secret)
    if signature.scheme == "jwt":
        return text.startswith(signature.prefix) and _is_jwt(text.removeprefix(signature.prefix), secret, event)
    sent_at, candidates = _parts(signature, text, event)
    is_timed = signature.time_header or signature.time_member or signature.pairs
    if is_timed and not _is_recent(sent_at, event, signature):
        return False
    scope = {name: event.get(name[1:]) or "" for name in ("$method", "$url")}
    signed = parse(signature.signed).text({**scope, "$body": event.get("bodyRaw") or "", "$time": sent_at})
    digest = hmac.new(secret.encode(), signed.encode(), _HASHES[signature.scheme]).digest()
    plain = digest.hex() if signature.encoding == "hex" else base64.b64encode(digest).decode("ascii")
    return any(_equal(candidate, signature.prefix + plain) for candidate in candidates)


def _is_jwt(token: str, secret: str, event: Mapping[str, Any]) -> bool:
    """Whether ``token`` is a JWT signed with ``secret`` by HS256, and valid at the time of ``event``."""
    from joserfc import jwt  # what few apps need is loaded when one does
    from joserfc.errors import JoseError, SecurityWarning
    from joserfc.jwk import OctKey

    at = (event.get("timestamp") or now()) // SECOND
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)  # the app chose the length of the secret
            claims = jwt.decode(token, OctKey.import_key(secret.encode()), algorithms=["HS256"]).claims
        jwt.JWTClaimsRegistry(now=at, leeway=_LEEWAY_S).validate(claims)
    except (JoseError, ValueError, TypeError):
        return False
    return True


def _parts(signature: Signature, text: str, event: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The signed time and the signatures in the request."""
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
    """What a push asks for: ``look`` says to poll now, ``renew`` to renew the subscription."""

    look: bool
    renew: bool


def challenge_answer(push: Push, event: Mapping[str, Any]) -> str | None:
    """The response to ``event`` if it is a challenge; otherwise None."""
    scope = {"$event": event}
    if push.challenge is None or not _holds(push.challenge.only_if, scope):
        return None
    return as_text(fill(push.challenge.answer, scope))


def read(push: Push, secret: str, event: Mapping[str, Any]) -> Notification | None:
    """The notification in the request ``event``; None if nothing in it carries ``secret``, or is signed with
    it."""
    scopes: list[Scope] = [{"$event": event}]
    if push.items:
        items = parse(push.items).value(scopes[0])
        scopes = [{"$event": event, "$item": item} for item in (items if isinstance(items, list) else [])]
    if push.signature is not None:
        genuine = scopes if fits(push.signature, secret, event) else []
    else:
        genuine = [scope for scope in scopes if _is_secret(parse(push.token).value(scope), secret)]
    if not genuine:
        return None
    counted = [scope for scope in genuine if not _holds(push.ignore_if, scope)]
    return Notification(bool(counted), any(_holds(push.renew_if, scope) for scope in counted))


def _is_secret(token: Any, secret: str) -> bool:
    return isinstance(token, str) and hmac.compare_digest(token.encode(errors="replace"), secret.encode())


def _holds(condition: str, scope: Scope) -> bool:
    return bool(condition) and parse(condition).value(scope) not in (*EMPTY, False)


def _activate(session: Session, subscription: Subscription) -> None:
    """Subscribe; a push only reports that it is due, and forgets the subscription for earlier values."""
    if not isinstance(subscription, Push):
        _subscribe(session, subscription)
    elif _is_reachable(session.call.endpoint):
        _forget(session)
        session.send({"ends": _now(session)})


def _renew(session: Session, subscription: Subscription) -> None:
    """Renew the subscription, or replace it with a new one."""
    hook = session.memory.get(HOOK)
    if hook is not None and subscription.renew is not None:
        scope = _scope(session, subscription, hook=hook, secret=session.memory.get(SECRET))
        try:
            answer = ask(session, subscription.renew, scope)
        except HttpError as error:
            if error.status not in subscription.gone:
                raise
            session.log("The app does not know the subscription any more, so a new one is made.")
        else:
            _report_end(session, subscription, {**scope, "$answer": answer})
            return
    old_secret = session.memory.get(SECRET)
    _subscribe(session, subscription)
    if hook is not None and subscription.renew is None:
        try:
            _delete(session, subscription, hook, old_secret)
        except HttpError as error:
            session.log(f"The one before could not be taken back, and ends by itself: {error}")


def _deactivate(session: Session, subscription: Subscription) -> bool:
    """Delete the subscription, which may no longer exist, and return whether none can be left.

    Where its id is not known, those with the trigger's URL are deleted that the app lists.
    """
    hook, secret = session.memory.get(HOOK), session.memory.get(SECRET)
    is_known = hook is not None
    if subscription.lasts is not None:  # it expires by itself, even if this fails
        _forget(session)
    try:
        for each in [hook] if is_known else _existing(session, subscription):
            _delete(session, subscription, each, secret)
    except HttpError as error:
        if error.status is None:
            raise
        sentence = f"The webhook could not be removed: the app answered with status {error.status}."
        raise HttpError(sentence, error.status, error.body) from None
    _forget(session)
    return is_known or subscription.existing is not None


METHODS: Mapping[str, Callable[[Session, Subscription], bool | None]] = {
    "activate": _activate, "renew": _renew, "deactivate": _deactivate,
}  # fmt: skip


def _subscribe(session: Session, subscription: Subscription) -> None:
    steps.take(session, subscription.steps)
    needs_none = subscription.gets_secret_from_app or (isinstance(subscription, Push) and subscription.at == "client")
    makes_one = subscription.secret == MAKE and not needs_none
    secret = secrets.token_urlsafe(32) if makes_one else None
    scope = _scope(session, subscription, secret=secret)
    scope = {**scope, "$answer": ask(session, subscription.subscribe, scope)}
    if reason := parse(subscription.refused).text(scope) if subscription.refused else "":
        raise ComponentError(f"The app did not create a webhook: {reason}")
    session.memory.set(HOOK, _hook_id(shape(subscription.id, scope)))
    if not needs_none:
        session.memory.set(SECRET, secret or as_text(parse(subscription.secret).value(scope) or ""))
    _report_end(session, subscription, scope)


def _hook_id(value: Any) -> Any:
    return value if value is None or isinstance(value, Mapping) else as_text(value)


def _existing(session: Session, subscription: Subscription) -> list[Any]:
    """The ids of the subscriptions that the app lists with the trigger's URL."""
    if subscription.existing is None or session.call.endpoint is None:
        return []  # a trigger without a URL, such as one of an earlier version that only polled, subscribed to nothing
    steps.take(session, subscription.steps)
    scope = _scope(session, subscription)
    items, answer = gather(session, subscription.existing, scope)
    hooks = [shape(subscription.existing.id, {**scope, "$answer": answer, "$item": item}) for item in items]
    return [_hook_id(hook) for hook in hooks if hook is not None]


def _delete(session: Session, subscription: Subscription, hook: Any, secret: Any) -> None:
    request: Request = subscription.unsubscribe
    gone = request.model_copy(update={"allow": (*request.allow, *GONE)})
    send(session, gone, _scope(session, subscription, hook=hook, secret=secret))


def _forget(session: Session) -> None:
    session.memory.set(HOOK, None)
    session.memory.set(SECRET, None)


def _scope(session: Session, subscription: Subscription, **more: Any) -> Scope:
    """The template values for the requests of a subscription."""
    if isinstance(subscription, Push):
        session.scope["$values"] = {name: fill(value, session.scope) for name, value in subscription.values.items()}
    until = None if subscription.lasts is None else _now(session) + subscription.lasts * SECOND
    return session.with_(until=until, channel=str(uuid.uuid4()), **more)


def _report_end(session: Session, subscription: Subscription, scope: Scope) -> None:
    """Report when the subscription ends, so that it is renewed before."""
    if subscription.lasts is not None:
        ends = FILTERS["ms"].apply(parse(subscription.ends).value(scope)) if subscription.ends else None
        session.send({"ends": ends or scope["$until"]})


def _now(session: Session) -> int:
    """The time of the event, or the present time."""
    at: int = (session.call.event or {}).get("timestamp") or now()
    return at


def _is_reachable(endpoint: str | None) -> bool:
    """Whether an app can send to ``endpoint``: apps accept only public URLs with https."""
    parts = urlsplit(endpoint or "")
    return parts.scheme == "https" and not is_loopback(parts.hostname or "")
