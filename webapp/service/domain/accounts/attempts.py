"""Connect attempts (table ``connect_attempts``): a person on the way to a connected account.

    open ──start──▶ started ──take──▶ exchanging ──▶ connected
      └──────────take_keys───────────────▲      └──▶ failed

Each arrow is one conditional UPDATE, so that a repeated click, code or form finds the way closed and a restart
loses nothing. The secret of an attempt is known to its page alone; ``state`` and the cookie that binds it to one
browser (RFC 6749 section 10.12) only to that browser; all three are kept as hashes. The PKCE verifier (RFC 7636)
and what was typed into the form are sealed.
"""

import json
import secrets as random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from webapp.errors import PatchbayError
from webapp.kit.clock import DAY, MINUTE
from webapp.kit.secrets import hash_token, same
from webapp.service.domain.access import tokens
from webapp.service.domain.access.tokens import ConnectToken
from webapp.service.domain.accounts import notifications
from webapp.service.domain.base.failures import AttemptUnknown, ConnectFailed, LinkExpired
from webapp.service.domain.base.keyring import KeyGone, Place
from webapp.service.domain.base.sealed import SealedColumn
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Row, Tx

Status = Literal["open", "started", "exchanging", "connected", "failed"]
SIGN_IN_TIME = 15 * MINUTE
EXCHANGE_TIME = 2 * MINUTE  # longer than any deadline of the exchange, identity and test requests together
INTERRUPTED, TIMED_OUT = "interrupted", "sign_in_timeout"


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """What an attempt is for; ``fields`` are what was typed before the sign-in, such as a subdomain."""

    app: str
    oauth_app_id: str | None = None
    account_id: str | None = None
    session_id: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt. ``id`` is the hash of its secret; ``mode`` is 'tab' or 'window'."""

    id: str
    token_hash: str
    project_id: str
    app: str
    oauth_app_id: str | None
    account_id: str | None
    session_id: str | None
    scopes: tuple[str, ...]
    scope_profile: str | None
    mode: str
    status: Status
    result_account_id: str | None
    error_code: str | None
    error_sentence: str | None
    expires_at: int
    sealed: bytes | None = field(repr=False)
    binding_hash: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class SignInStart:
    """What goes to the browser when a sign-in starts."""

    attempt: Attempt
    state: str = field(repr=False)
    binding: str = field(repr=False)
    verifier: str = field(repr=False)
    fields: Mapping[str, str] = field(repr=False)


def create(service: Service, token: ConnectToken, wish: AttemptRequest) -> tuple[Attempt, str]:
    """An open attempt that lives as long as its token, and its secret."""
    secret = random.token_urlsafe(24)
    attempt_id = hash_token(secret)
    place = _place(token.scene.project_id, attempt_id)
    with service.store.write() as tx:
        tx.run(
            "INSERT INTO connect_attempts (id, token_hash, app, oauth_app_id, account_id, session_id, scopes, mode, "
            "sealed, status, created_at, expires_at) VALUES (:id, :token, :app, :oauth_app, :account, :session, '[]', "
            "'tab', :sealed, 'open', :now, :expires)",
            {
                "id": attempt_id,
                "token": token.hash,
                "app": wish.app,
                "oauth_app": wish.oauth_app_id,
                "account": wish.account_id,
                "session": wish.session_id,
                "sealed": _seal(service, tx, place, fields=wish.fields) if wish.fields else None,
                "now": service.clock(),
                "expires": token.expires_at,
            },
        )
        return _get(tx, attempt_id), secret


def start(
    service: Service, secret: str, *, scopes: Sequence[str], scope_profile: str | None, oauth_app_id: str, mode: str
) -> SignInStart:
    """Begin the sign-in at the provider; from now on it has 15 minutes.

    Raises :class:`AttemptUnknown` when it was begun before, :class:`LinkExpired`.
    """
    now, attempt_id = service.clock(), hash_token(secret)
    found = find(service, secret)
    if found is None or found.status != "open":
        raise AttemptUnknown
    if found.expires_at <= now:
        raise LinkExpired
    state, binding, verifier = (random.token_urlsafe(32) for _ in range(3))
    fields = unsealed(service, found).get("fields", {})
    with service.store.write() as tx:
        begun = tx.run(
            "UPDATE connect_attempts SET status = 'started', started_at = :now, expires_at = :expires, mode = :mode, "
            "scopes = :scopes, scope_profile = :profile, oauth_app_id = :oauth_app, state_hash = :state, "
            "binding_hash = :binding, sealed = :sealed WHERE id = :id AND status = 'open'",
            {
                "id": attempt_id,
                "now": now,
                "expires": now + SIGN_IN_TIME,
                "mode": mode,
                "scopes": json.dumps(list(scopes)),
                "profile": scope_profile,
                "oauth_app": oauth_app_id,
                "state": hash_token(state),
                "binding": hash_token(binding),
                "sealed": _seal(service, tx, _place(found.project_id, attempt_id), verifier=verifier, fields=fields),
            },
        )
        if not begun:
            raise AttemptUnknown
        return SignInStart(_get(tx, attempt_id), state, binding, verifier, fields)


def by_state(service: Service, state: str) -> Attempt | None:
    """The attempt of ``state``, whatever became of it; knowing a state proves nothing, see :func:`is_bound`."""
    sql = _SELECT + "WHERE a.state_hash = :state"
    row = service.store.one(sql, {"state": hash_token(state)}) if state else None
    return _settled(service, row) if row else None


def is_bound(attempt: Attempt, binding: str | None) -> bool:
    """Whether ``binding`` is the cookie of the browser that started ``attempt``."""
    return bool(binding and attempt.binding_hash and same(attempt.binding_hash, hash_token(binding)))


def claim_sign_in(service: Service, attempt: Attempt, binding: str | None) -> Attempt:
    """Claim a sign-in that came back, so that its code is exchanged once. Raises :class:`AttemptUnknown`."""
    if not is_bound(attempt, binding) or attempt.expires_at <= service.clock():
        raise AttemptUnknown
    return _claim(service, attempt, "started")


def claim_keys(service: Service, attempt: Attempt) -> Attempt:
    """Claim an open attempt for keys that were sent, so that they are connected once.

    Raises :class:`AttemptUnknown`, :class:`LinkExpired`.
    """
    if attempt.expires_at <= service.clock():
        raise LinkExpired
    return _claim(service, attempt, "open")


def reopen(service: Service, attempt: Attempt) -> None:
    """Reopen an attempt whose form has to be filled in again."""
    with service.store.write() as tx:
        tx.run(
            "UPDATE connect_attempts SET status = 'open' WHERE id = :id AND status = 'exchanging'", {"id": attempt.id}
        )


def record_connected(attempt: Attempt) -> Callable[[Tx, str], None]:
    """What writes down that an account came of it, in the transaction that commits the account.

    It raises :class:`AttemptUnknown`, which undoes the account too, when the attempt has ended otherwise meanwhile.
    """

    def record(tx: Tx, account_id: str) -> None:
        if not _finish(tx, attempt, "connected", account_id, None, None):
            raise AttemptUnknown

    return record


def fail(service: Service, attempt: Attempt, error: PatchbayError) -> Attempt:
    """Write down why nothing came of it."""
    code = error.code if isinstance(error, ConnectFailed) else ConnectFailed.code
    return _ended(service, attempt, code, error.message)


def unsealed(service: Service, attempt: Attempt) -> dict[str, Any]:
    """What is sealed in ``attempt``: ``verifier`` and ``fields``, as far as they stand there."""
    if attempt.sealed is None:
        return {}
    place = _place(attempt.project_id, attempt.id)
    try:
        found: dict[str, Any] = json.loads(service.keys.open_box(place, attempt.sealed))
    except KeyGone:
        fresh = reread(service, attempt)
        if fresh.sealed == attempt.sealed:
            raise
        return unsealed(service, fresh)
    return found


def reread(service: Service, attempt: Attempt) -> Attempt:
    """``attempt`` as it stands now."""
    return _get(service.store, attempt.id)


def find(service: Service, secret: str) -> Attempt | None:
    """The attempt with this secret, settled if its exchange was interrupted."""
    return by_id(service, hash_token(secret)) if secret else None


def by_id(service: Service, attempt_id: str) -> Attempt | None:
    """The attempt ``attempt_id``; the caller has proved that it is the visitor's."""
    row = service.store.one(_SELECT + "WHERE a.id = :id", {"id": attempt_id})
    return _settled(service, row) if row else None


def latest(service: Service, session_id: str) -> Attempt | None:
    """The attempt that was begun last from a link session, if there is one."""
    row = service.store.one(
        _SELECT + "WHERE a.session_id = :session AND a.started_at IS NOT NULL ORDER BY a.started_at DESC, a.id LIMIT 1",
        {"session": session_id},
    )
    return _settled(service, row) if row else None


def token_of(reader: Reader, attempt: Attempt) -> ConnectToken:
    """The token an attempt was made with. A sign-in that began in time may end after the token's expiry."""
    token = tokens.by_hash(reader, attempt.token_hash)
    if token is None:
        raise AttemptUnknown
    return token


def purge(service: Service) -> int:
    """Forget attempts that ended more than a day ago; how many there were."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM connect_attempts WHERE expires_at < :limit", {"limit": service.clock() - DAY})


def _claim(service: Service, attempt: Attempt, status: Status) -> Attempt:
    now = service.clock()
    with service.store.write() as tx:
        claimed = tx.run(
            "UPDATE connect_attempts SET status = 'exchanging', claimed_at = :now, "
            "started_at = COALESCE(started_at, :now) WHERE id = :id AND status = :status",
            {"id": attempt.id, "now": now, "status": status},
        )
        if not claimed:
            raise AttemptUnknown
        return _get(tx, attempt.id)


def _ended(service: Service, attempt: Attempt, code: str, sentence: str) -> Attempt:
    with service.store.write() as tx:
        if _finish(tx, attempt, "failed", None, code, sentence):
            notifications.connect_failed(tx, service, token_of(tx, attempt), sentence)
        ended = _get(tx, attempt.id)
    service.wake()
    return ended


def _finish(
    tx: Tx, attempt: Attempt, status: Status, account_id: str | None, code: str | None, sentence: str | None
) -> bool:
    """End ``attempt``, unless it has ended; what was sealed is forgotten."""
    changed = tx.run(
        "UPDATE connect_attempts SET status = :status, sealed = NULL, result_account_id = :account, "
        "error_code = :code, error_sentence = :sentence WHERE id = :id AND status IN ('started', 'exchanging')",
        {"id": attempt.id, "status": status, "account": account_id, "code": code, "sentence": sentence},
    )
    return changed > 0


def _settled(service: Service, row: Row) -> Attempt:
    """The attempt of ``row``; one whose process died in the exchange, or that nobody came back to, has failed."""
    attempt, now = _attempt(row), service.clock()
    if attempt.status == "exchanging" and row["claimed_at"] + EXCHANGE_TIME < now:
        return _ended(service, attempt, INTERRUPTED, "It broke off in the middle. Start again.")
    if attempt.status == "started" and attempt.expires_at <= now:
        return _ended(service, attempt, TIMED_OUT, "It took longer than 15 minutes. Start again.")
    return attempt


def _seal(service: Service, tx: Tx, place: Place, **values: Any) -> bytes:
    plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
    return service.keys.seal_box(tx, place, json.dumps(plain).encode())


def _place(project_id: str, attempt_id: str) -> Place:
    return Place(project_id, "connect_attempts", attempt_id, "sealed")


SEALED = SealedColumn(
    "connect_attempts",
    "sealed",
    owner="(SELECT t.project_id FROM connect_tokens t WHERE t.token_hash = connect_attempts.token_hash)",
)


_SELECT = "SELECT a.*, t.project_id FROM connect_attempts a JOIN connect_tokens t ON t.token_hash = a.token_hash "


def _get(reader: Reader, attempt_id: str) -> Attempt:
    row = reader.one(_SELECT + "WHERE a.id = :id", {"id": attempt_id})
    if row is None:
        raise AttemptUnknown
    return _attempt(row)


def _attempt(row: Row) -> Attempt:
    return Attempt(
        id=row["id"],
        token_hash=row["token_hash"],
        project_id=row["project_id"],
        app=row["app"],
        oauth_app_id=row["oauth_app_id"],
        account_id=row["account_id"],
        session_id=row["session_id"],
        scopes=tuple(json.loads(row["scopes"])),
        scope_profile=row["scope_profile"],
        mode=row["mode"],
        status=row["status"],
        result_account_id=row["result_account_id"],
        error_code=row["error_code"],
        error_sentence=row["error_sentence"],
        expires_at=row["expires_at"],
        sealed=row["sealed"],
        binding_hash=row["binding_hash"],
    )
