"""The beginning of a connect attempt: from the page that asks to the sign-in at the provider.

What becomes of it then is :mod:`attempts`'s.
"""

import json
import secrets as random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.kit.crypto import hash_token
from webapp.service.domain.access.tokens import ConnectToken
from webapp.service.domain.accounts import attempts
from webapp.service.domain.accounts.attempts import Attempt
from webapp.service.domain.base.failures import AttemptUnknown, LinkExpired
from webapp.service.domain.base.service import Service
from webapp.store.contract import Tx


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """What an attempt is to connect; ``fields`` are what was typed before the sign-in, such as a subdomain."""

    app: str
    oauth_app_id: str | None = None
    account_id: str | None = None
    session_id: str | None = None
    of_portal: bool = False
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class SignInStart:
    """What goes to the browser when a sign-in starts."""

    attempt: Attempt
    state: str = field(repr=False)
    binding: str = field(repr=False)
    verifier: str = field(repr=False)
    fields: Mapping[str, str] = field(repr=False)


def create(service: Service, token: ConnectToken, request: AttemptRequest) -> tuple[Attempt, str]:
    """An open attempt that lives as long as its token, and its secret."""
    secret = random.token_urlsafe(24)
    attempt_id, what = hash_token(secret), (request.app, request.oauth_app_id, request.account_id, request.session_id)
    with service.store.write() as tx:
        sealed = _seal(service, tx, token, attempt_id, fields=request.fields) if request.fields else None
        times = service.clock(), token.expires_at
        attempt = Attempt(attempt_id, token.token_hash, *what, *times, sealed, of_portal=request.of_portal)
        attempts.insert(tx, attempt)
    return attempt, secret


def start(
    service: Service, secret: str, *, scopes: Sequence[str], scope_profile: str | None, oauth_app_id: str, mode: str
) -> SignInStart:
    """Begin the sign-in at the provider; from now on it has 15 minutes. One that was begun before with this token ends.

    Raises :class:`AttemptUnknown` when it was begun before, :class:`LinkExpired`,
    :class:`webapp.service.domain.base.failures.LinkUsed`.
    """
    now, attempt = service.clock(), attempts.find(service, secret)
    if attempt is None or attempt.status != "open":
        raise AttemptUnknown
    if attempt.expires_at <= now:
        raise LinkExpired
    state, binding, verifier = (random.token_urlsafe(32) for _ in range(3))
    fields = attempts.unsealed(service, attempt).get("fields", {})
    with service.store.write() as tx:
        attempts.begin(tx, attempt)
        token = attempts.token_of(tx, attempt)
        started = attempts.move(
            tx,
            attempt,
            "open",
            status="started",
            started_at=now,
            expires_at=now + attempts.SIGN_IN_TIME,
            mode=mode,
            scopes=tuple(scopes),
            scope_profile=scope_profile,
            oauth_app_id=oauth_app_id,
            state_hash=hash_token(state),
            binding_hash=hash_token(binding),
            sealed=_seal(service, tx, token, attempt.id, verifier=verifier, fields=fields),
        )
        if not started:
            raise AttemptUnknown
        return SignInStart(attempts.get(tx, attempt.id), state, binding, verifier, fields)


def add(service: Service, started: SignInStart, **more: Any) -> None:
    """Seal ``more`` in an attempt whose sign-in has just started. Raises :class:`AttemptUnknown` when it ended."""
    with service.store.write() as tx:
        token, attempt = attempts.token_of(tx, started.attempt), started.attempt
        kept = {"verifier": started.verifier, "fields": started.fields, **more}
        if not attempts.move(tx, attempt, "started", sealed=_seal(service, tx, token, attempt.id, **kept)):
            raise AttemptUnknown


def _seal(service: Service, tx: Tx, token: ConnectToken, attempt_id: str, **values: Any) -> bytes:
    plain = json.dumps(values, default=dict).encode()
    return attempts.SEALED.seal(service, tx, token.scene.project_id, attempt_id, plain)
