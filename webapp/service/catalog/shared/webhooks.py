"""Webhooks at providers: what a trigger remembers of the one it registered, and how it recognises a forged request.

Secrets are compared in constant time. A trigger emits nothing for a forged request, and logs it by :func:`log_forged`.
"""

import hashlib
import hmac
import secrets
from typing import Final

from webapp.kit.clock import SECOND, now
from webapp.service.components.authoring import ComponentError, Context

TOLERANCE_S: Final = 300
"""How old a signed time may be: what Slack and Stripe recommend."""
_HOOK, _SECRET = "hook", "secret"


def new_secret() -> str:
    """A random secret to share with a provider: 43 characters, of ``A-Z a-z 0-9 _ -``."""
    return secrets.token_urlsafe(32)


def remember(ctx: Context, hook: str | int | None, secret: str) -> None:
    """Remember the webhook that was registered: its id at the provider, if it has one, and the shared secret."""
    ctx.db.set(_HOOK, None if hook is None else str(hook))
    ctx.db.set(_SECRET, secret)


def registered_id(ctx: Context) -> str | None:
    """The id of the webhook that was registered."""
    hook: str | None = ctx.db.get(_HOOK)
    return hook


def shared_secret(ctx: Context) -> str:
    """The shared secret. Raises :class:`ComponentError` while there is none: the request may be tried again later."""
    secret: str | None = ctx.db.get(_SECRET)
    if not secret:
        raise ComponentError("A request came before the webhook was in place. It is tried again.")
    return secret


def remove(ctx: Context, address: str) -> None:
    """DELETE the webhook at ``address``, and forget it. It may be gone already. Raises :class:`ComponentError`."""
    answer = ctx.http.delete(address, check=False)
    if not answer.ok and answer.status not in (404, 410):
        raise ComponentError(f"The webhook could not be removed: the app answered with status {answer.status}.")
    forget(ctx)


def forget(ctx: Context) -> None:
    """Forget the webhook that was registered."""
    ctx.db.set(_HOOK, None)
    ctx.db.set(_SECRET, None)


def header(ctx: Context, name: str) -> str:
    """A header of the request that set the trigger off; empty when it has none."""
    return str(ctx.event["headers"].get(name.lower(), ""))


def hmac_sha256(secret: str, signed: str) -> str:
    """The HMAC-SHA256 of a text, both as UTF-8, in hex (RFC 2104)."""
    return hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()


def equal(signature: str, expected: str) -> bool:
    """Whether two texts are equal, in a time that depends on neither."""
    return hmac.compare_digest(signature.encode(), expected.encode())


def is_recent(ctx: Context, seconds: str) -> bool:
    """Whether a signed time (epoch seconds) is at most :data:`TOLERANCE_S` away from when the request came."""
    if not (seconds.isascii() and seconds.isdigit()) or len(seconds) > 12:
        return False
    received_at: int = ctx.event.get("timestamp") or now()
    return abs(received_at - int(seconds) * SECOND) <= TOLERANCE_S * SECOND


def log_forged(ctx: Context, provider: str) -> None:
    """Log that a request was ignored, because ``provider`` did not sign it."""
    ctx.log(f"A request was ignored: its signature is not the one of {provider}, or the secret has changed.")
