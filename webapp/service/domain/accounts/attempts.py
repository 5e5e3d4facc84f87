"""Connect attempts (table ``connect_attempts``): a person on the way to a connected account.

    open ──start──▶ started ──claim_sign_in──▶ exchanging ──▶ connected
      └───────────────claim_keys──────────────────▲  │   └──▶ failed
                          asking ──claim_answer───┘◀─┘ ask

Each arrow is one conditional UPDATE, so that a repeated click, code or form has no effect and a restart loses nothing.
The secret of an attempt is known only to its page; ``state`` and the cookie that binds it to one browser (RFC 6749
section 10.12) only to that browser; all three are stored as hashes. The PKCE verifier (RFC 7636), the values of the
form and the temporary credentials of OAuth 1.0a, whose callback URL contains the attempt's ``state`` (RFC 5849 section
2.1), are sealed.

A :class:`Question` is for the person who connects, once their identity is known: which of several sites to use, and
whether the account replaces one that is connected. A connection that needs an answer raises :class:`Undecided`, and is
repeated with the answer.
"""

import json
import secrets as random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlencode

from webapp.errors import PatchbayError
from webapp.kit.clock import DAY, MINUTE, SECOND
from webapp.kit.crypto import hash_token, same
from webapp.service.catalog.app import App
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.accounts import notifications, provider
from webapp.service.domain.base.failures import AttemptUnknown, ConnectFailed, LinkExpired
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.outbound import oauth1
from webapp.service.outbound.oauth import WRONG_ISSUER, Provider, TokenResult
from webapp.service.outbound.oauth1 import Temporary
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

QuestionKind = Literal["site", "again"]
SITE: QuestionKind = "site"
REPLACE: QuestionKind = "again"
KEEP_BOTH = "both"
Status = Literal["open", "started", "asking", "exchanging", "connected", "failed"]
SIGN_IN_TIME = 15 * MINUTE
EXCHANGE_TIME = 2 * MINUTE  # longer than any deadline of the exchange, identity and test requests together
INTERRUPTED, TIMED_OUT, ELSEWHERE = "interrupted", "sign_in_timeout", "continued_elsewhere"
ENDED_WITHOUT_VISITOR = frozenset(
    {INTERRUPTED, TIMED_OUT, ELSEWHERE}
)  # by a browser that comes back from the provider after it
_CONTINUED_ELSEWHERE = "It was continued from another page or browser."
_OVERDUE = {
    "exchanging": (INTERRUPTED, "The connection was interrupted. Start again."),
    "started": (TIMED_OUT, "The sign-in took longer than 15 minutes. Start again."),
    "asking": (TIMED_OUT, "The sign-in took longer than 15 minutes. Start again."),
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt. ``id`` is the hash of its secret; ``mode`` is 'tab' or 'window'. One ``of_portal`` leaves the
    link of its token unused, and does not mind that it was used. ``scopes`` are those that were asked for; until it
    was started, those that are asked for besides the usual ones."""

    id: str
    token_hash: str
    app: str
    oauth_app_id: str | None
    account_id: str | None
    session_id: str | None
    created_at: int
    expires_at: int
    sealed: bytes | None = field(repr=False)
    scopes: tuple[str, ...] = ()
    scope_profile: str | None = None
    mode: str = "tab"
    status: Status = "open"
    started_at: int | None = None
    claimed_at: int | None = None
    result_account_id: str | None = None
    error_code: str | None = None
    error_sentence: str | None = None
    state_hash: str | None = field(default=None, repr=False)
    binding_hash: str | None = field(default=None, repr=False)
    of_portal: bool = False


SEALED = SealedColumn(
    "connect_attempts",
    "sealed",
    owner="(SELECT t.project_id FROM connect_tokens t WHERE t.token_hash = connect_attempts.token_hash)",
)
_ATTEMPTS = Table("connect_attempts", Attempt)


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """The request for an attempt; ``fields`` are the values entered before the sign-in, such as a subdomain.

    ``scopes`` are asked for besides the usual ones.
    """

    app: str
    oauth_app_id: str | None = None
    account_id: str | None = None
    session_id: str | None = None
    of_portal: bool = False
    scopes: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)


def create(service: Service, token: ConnectToken, request: AttemptRequest) -> tuple[Attempt, str]:
    """An open attempt that lives as long as its token, and its secret."""
    secret = random.token_urlsafe(24)
    attempt_id, what = hash_token(secret), (request.app, request.oauth_app_id, request.account_id, request.session_id)
    with service.store.write() as tx:
        sealed = _seal(service, tx, token, attempt_id, fields=request.fields) if request.fields else None
        times = service.clock(), token.expires_at
        attempt = Attempt(
            attempt_id, token.token_hash, *what, *times, sealed, request.scopes, of_portal=request.of_portal
        )
        _ATTEMPTS.insert(tx, attempt)
    return attempt, secret


@dataclass(frozen=True, slots=True)
class SignInStart:
    """The values for the browser when a sign-in starts."""

    attempt: Attempt
    state: str = field(repr=False)
    binding: str = field(repr=False)
    verifier: str = field(repr=False)
    fields: Mapping[str, str] = field(repr=False)


def start(
    service: Service, secret: str, *, scopes: Sequence[str], scope_profile: str | None, oauth_app_id: str, mode: str
) -> SignInStart:
    """Begin the sign-in at the provider; from now on it has 15 minutes. One that was begun before with this token ends.

    Raises :class:`AttemptUnknown` when it was begun before, :class:`LinkExpired`,
    :class:`webapp.service.domain.base.failures.LinkUsed`.
    """
    now, attempt = service.clock(), find(service, secret)
    if attempt is None or attempt.status != "open":
        raise AttemptUnknown
    if attempt.expires_at <= now:
        raise LinkExpired
    state, binding, verifier = (random.token_urlsafe(32) for _ in range(3))
    fields = unsealed(service, attempt).get("fields", {})
    with service.store.write() as tx:
        _begin(tx, attempt)
        token = token_of(tx, attempt)
        started = _move(
            tx,
            attempt,
            "open",
            status="started",
            started_at=now,
            expires_at=now + SIGN_IN_TIME,
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
        return SignInStart(get(tx, attempt.id), state, binding, verifier, fields)


def begin_oauth1(
    service: Service, app: App, oauth_provider: Provider, redirect_uri: str, started: SignInStart
) -> str | OAuthFailure:
    """The URL of the provider's page. Raises :class:`webapp.service.domain.base.failures.AttemptUnknown`."""
    callback = f"{redirect_uri}?{urlencode({'state': started.state})}"
    temporary = oauth1.begin(service.client_for(app), oauth_provider, callback)
    if isinstance(temporary, OAuthFailure):
        return provider.naming_failure(temporary, app)
    add_sealed(service, started, temporary=asdict(temporary))
    return oauth1.authorization_url(oauth_provider, temporary, started.attempt.scopes)


def add_sealed(service: Service, started: SignInStart, **more: Any) -> None:
    """Seal ``more`` in an attempt whose sign-in has just started. Raises :class:`AttemptUnknown` when it ended."""
    with service.store.write() as tx:
        token, attempt = token_of(tx, started.attempt), started.attempt
        kept = {"verifier": started.verifier, "fields": started.fields, **more}
        if not _move(tx, attempt, "started", sealed=_seal(service, tx, token, attempt.id, **kept)):
            raise AttemptUnknown


def claim_sign_in(service: Service, attempt: Attempt, binding: str | None) -> Attempt:
    """Claim a returned sign-in, so that its code is exchanged once. Raises :class:`AttemptUnknown`."""
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


def claim_answer(service: Service, attempt: Attempt) -> Attempt:
    """Claim an answered attempt, so that it continues once. Raises :class:`AttemptUnknown`."""
    if attempt.expires_at <= service.clock():
        raise AttemptUnknown
    return _claim(service, attempt, "asking")


def exchange_oauth1(
    service: Service, app: App, oauth_provider: Provider, sealed: Mapping[str, Any], token: str, verifier: str
) -> TokenResult | OAuthFailure:
    """The token for the ``sealed`` temporary credentials, if the callback's ``token`` names them."""
    temporary = Temporary(**sealed["temporary"])
    if not same(temporary.token, token):
        return OAuthFailure("denied", WRONG_ISSUER)
    return oauth1.exchange(service.client_for(app), oauth_provider, temporary, verifier)


@dataclass(frozen=True, slots=True)
class Question:
    """``about`` is whom or what it is about; ``options`` are values and how to call them."""

    kind: QuestionKind
    about: str
    options: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Question":
        """The question of its JSON."""
        return cls(values["kind"], values["about"], tuple((value, label) for value, label in values["options"]))

    def admits(self, answer: str) -> bool:
        """Whether ``answer`` is one of those offered."""
        return answer in [value for value, _ in self.options] or (self.kind == REPLACE and answer == KEEP_BOTH)


class Undecided(PatchbayError):
    """The person must answer ``question`` before the connection continues."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question


def ask(service: Service, attempt: Attempt, question: Question, **progress: Any) -> None:
    """Let ``attempt`` wait for its person's answer, and keep its values. Raises :class:`AttemptUnknown`."""
    plain = json.dumps({"question": asdict(question), **progress}, default=dict).encode()
    with service.store.write() as tx:
        sealed = SEALED.seal(service, tx, token_of(tx, attempt).scene.project_id, attempt.id, plain)
        times = {"claimed_by": None, "expires_at": service.clock() + SIGN_IN_TIME}
        if not _move(tx, attempt, "exchanging", status="asking", sealed=sealed, **times):
            raise AttemptUnknown


def grant_to_json(result: TokenResult, now: int) -> dict[str, Any]:
    """The grant as JSON, with the time it was issued, to keep while the person is asked."""
    return {**asdict(result), "at": now}


def grant_from_json(values: Mapping[str, Any], now: int) -> TokenResult:
    """The kept grant, with its remaining lifetime."""
    fields = {name: value for name, value in values.items() if name != "at"}
    result = TokenResult(**{**fields, "scopes": None if fields["scopes"] is None else tuple(fields["scopes"])})
    if result.expires_in is None:
        return result
    return replace(result, expires_in=max(result.expires_in - (now - values["at"]) // SECOND, 1))


def reopen(service: Service, attempt: Attempt) -> None:
    """Reopen an attempt whose form has to be filled in again."""
    with service.store.write() as tx:
        _move(tx, attempt, "exchanging", status="open", claimed_by=None)


def record_connected(attempt: Attempt) -> Callable[[Tx, str], None]:
    """A function that records the connected account in the attempt, in the transaction that commits the account.

    It raises, which undoes the account too: :class:`AttemptUnknown` if the attempt has ended otherwise since,
    :class:`webapp.service.domain.base.failures.LinkUsed` if another attempt has connected an account by the same link.
    """

    def record(tx: Tx, account_id: str) -> None:
        if not _finish(tx, attempt, "connected", result_account_id=account_id):
            raise AttemptUnknown
        if not attempt.of_portal:
            connect_tokens.use_link(tx, token_of(tx, attempt), attempt.id)
        _end_others(tx, attempt)

    return record


def fail(service: Service, attempt: Attempt, error: PatchbayError) -> Attempt:
    """Record why the attempt failed."""
    code = error.code if isinstance(error, ConnectFailed) else ConnectFailed.code
    return _ended(service, attempt, code, error.message)


def fail_overdue(service: Service) -> int:
    """Fail attempts that were abandoned or interrupted, and send notifications; return their number."""
    over = {"now": service.clock(), "exchange": EXCHANGE_TIME}
    overdue = _ATTEMPTS.all(
        service.store,
        "status IN ('started', 'asking', 'exchanging') "
        "AND CASE status WHEN 'exchanging' THEN claimed_at + :exchange + 1 ELSE expires_at END <= :now LIMIT 100",
        over,
    )
    for attempt in overdue:
        with suppress(AttemptUnknown):  # its token was revoked meanwhile
            _settled(service, attempt)
    return len(overdue)


def purge(service: Service) -> int:
    """Forget attempts that ended more than a day ago; how many there were. The worker has settled them before."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM connect_attempts WHERE expires_at < :limit", {"limit": service.clock() - DAY})


def take_over(tx: Tx, service: Service, dead: int) -> None:
    """Fail the attempts that the generation ``dead`` was exchanging: a code is good once, so the person must start
    again.
    """
    for attempt in _ATTEMPTS.all(tx, "claimed_by = :dead AND status = 'exchanging'", {"dead": dead}):
        _fail(tx, service, attempt, *_OVERDUE["exchanging"])


def find(service: Service, secret: str) -> Attempt | None:
    """The attempt with this secret, settled if its exchange was interrupted."""
    return by_id(service, hash_token(secret)) if secret else None


def by_id(service: Service, attempt_id: str) -> Attempt | None:
    """The attempt ``attempt_id``; the caller has proved that it is the visitor's."""
    return _settled(service, _ATTEMPTS.get(service.store, attempt_id))


def by_state(service: Service, state: str) -> Attempt | None:
    """The attempt of ``state``, in any status; knowing a state proves nothing, see :func:`is_bound`."""
    if not state:
        return None
    return _settled(service, _ATTEMPTS.one(service.store, "state_hash = :state", {"state": hash_token(state)}))


def is_bound(attempt: Attempt, binding: str | None) -> bool:
    """Whether ``binding`` is the cookie of the browser that started ``attempt``."""
    return bool(binding and attempt.binding_hash and same(attempt.binding_hash, hash_token(binding)))


def latest(service: Service, column: Literal["session_id", "token_hash"], value: str) -> Attempt | None:
    """The attempt that was begun last from a link session, or with a token, if there is one."""
    where = f"{column} = :value AND started_at IS NOT NULL ORDER BY started_at DESC, id LIMIT 1"
    return _settled(service, _ATTEMPTS.one(service.store, where, {"value": value}))


def get(reader: Reader, attempt_id: str) -> Attempt:
    """The attempt ``attempt_id`` as it is now. Raises :class:`AttemptUnknown`."""
    attempt = _ATTEMPTS.get(reader, attempt_id)
    if attempt is None:
        raise AttemptUnknown
    return attempt


def unsealed(service: Service, attempt: Attempt) -> dict[str, Any]:
    """The sealed values of ``attempt``, such as ``verifier`` and ``fields``."""
    if attempt.sealed is None:
        return {}
    project_id = token_of(service.store, attempt).scene.project_id
    values: dict[str, Any] = json.loads(SEALED.open(service, project_id, attempt.id, attempt.sealed))
    return values


def token_of(reader: Reader, attempt: Attempt) -> ConnectToken:
    """The token an attempt was made with. A sign-in that began in time may end after the token's expiry."""
    token = connect_tokens.by_hash(reader, attempt.token_hash)
    if token is None:
        raise AttemptUnknown
    return token


def _begin(tx: Tx, attempt: Attempt) -> None:
    """Make ``attempt`` the only active one of its token, and end another. Raises :class:`LinkUsed`."""
    if not attempt.of_portal:
        connect_tokens.check_link(token_of(tx, attempt))
    _end_others(tx, attempt)


def _end_others(tx: Tx, attempt: Attempt) -> None:
    """End the other sign-ins of the token that wait for their person, without a notification: the outcome of
    ``attempt`` gives one.
    """
    others = _ATTEMPTS.all(
        tx,
        "token_hash = :token AND status IN ('started', 'asking') AND id <> :id",
        {"token": attempt.token_hash, "id": attempt.id},
    )
    for other in others:
        _finish(tx, other, "failed", error_code=ELSEWHERE, error_sentence=_CONTINUED_ELSEWHERE)


def _move(tx: Tx, attempt: Attempt, *allowed: Status, **changes: Any) -> bool:
    """Write ``changes`` if the attempt's state is one of those ``allowed`` at that moment; whether it was."""
    columns = _ATTEMPTS.to_columns(changes)
    assignments = ", ".join(f"{name} = :{name}" for name in columns)
    states = ", ".join(f"'{state}'" for state in allowed)
    sql = f"UPDATE connect_attempts SET {assignments} WHERE id = :key AND status IN ({states})"  # noqa: S608
    return tx.run(sql, {**columns, "key": attempt.id}) > 0


def _claim(service: Service, attempt: Attempt, status: Status) -> Attempt:
    now = service.clock()
    with service.store.write() as tx:
        _begin(tx, attempt)
        started_at = attempt.started_at or now
        claim = {"claimed_at": now, "claimed_by": service.generation, "started_at": started_at}
        claimed = _move(tx, attempt, status, status="exchanging", **claim)
        if not claimed:
            raise AttemptUnknown
        return get(tx, attempt.id)


def _settled(service: Service, attempt: Attempt | None) -> Attempt | None:
    """``attempt``, failed if it was abandoned or its process died during the exchange."""
    if attempt is None or attempt.status not in _OVERDUE:
        return attempt
    ends_at = attempt.expires_at if attempt.status != "exchanging" else (attempt.claimed_at or 0) + EXCHANGE_TIME + 1
    return attempt if service.clock() < ends_at else _ended(service, attempt, *_OVERDUE[attempt.status])


def _ended(service: Service, attempt: Attempt, code: str, sentence: str) -> Attempt:
    with service.store.write() as tx:
        _fail(tx, service, attempt, code, sentence)
        ended = get(tx, attempt.id)
    service.wake()
    return ended


def _fail(tx: Tx, service: Service, attempt: Attempt, code: str, sentence: str) -> None:
    if _finish(tx, attempt, "failed", error_code=code, error_sentence=sentence):
        notifications.connect_failed(tx, service, token_of(tx, attempt), sentence)


def _finish(tx: Tx, attempt: Attempt, status: Status, **result: str) -> bool:
    """End ``attempt`` if it has not ended, and delete its sealed values."""
    return _move(tx, attempt, "started", "asking", "exchanging", status=status, sealed=None, claimed_by=None, **result)


def _seal(service: Service, tx: Tx, token: ConnectToken, attempt_id: str, **values: Any) -> bytes:
    plain = json.dumps(values, default=dict).encode()
    return SEALED.seal(service, tx, token.scene.project_id, attempt_id, plain)
