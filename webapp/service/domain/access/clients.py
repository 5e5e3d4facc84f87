"""OAuth clients of the workspace and their access tokens (table ``oauth_clients``; contract "Access tokens"; RFC 6749).

Clients use client credentials alone. A secret is stored as its SHA-256. While a client's secret is being replaced, two
of them work; what changes a client stands in :mod:`client_changes`.

Access tokens are signed, not stored, so checking one is cheap; each carries a mark of the secret that it was issued for
and dies with it. Those refused as expired are remembered (table ``ended_access_tokens``), so that a clock set back
revives none. When a client called last is written a moment after the call.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from itsdangerous import BadData, URLSafeSerializer

from webapp import audit
from webapp.errors import NotFound, Unauthorized, Unavailable
from webapp.kit import cursors
from webapp.kit.clock import DAY, MINUTE, SECOND
from webapp.kit.crypto import hash_token, random_base62, same
from webapp.service.domain.base import scopes
from webapp.service.domain.base.gathered import Gathered
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

Origin = Literal["init", "cli", "person", "dashboard"]
DASHBOARD_ID = "dashboard"
EXAMPLE_ID = "example-product"


@dataclass(frozen=True, slots=True)
class Client:
    """An OAuth client. ``project_id`` is None when it sees every project; times are in epoch milliseconds.

    ``secret_hash`` is "" without a secret, and ``public_key`` a JWK or "". ``old_secret_hash`` is that of the secret
    before this one, which works until ``old_secret_ends_at``.
    """

    id: str
    project_id: str | None
    name: str
    scope: str
    secret_hash: str
    origin: str
    created_at: int
    rotated_at: int
    old_secret_hash: str = ""
    old_secret_ends_at: int | None = None
    last_used_at: int | None = None
    public_key: str = ""

    def old_secret_works(self, now: int) -> bool:
        """Whether the secret before this one still works at ``now``."""
        return self.old_secret_ends_at is not None and now < self.old_secret_ends_at

    def secrets(self, now: int) -> list[str]:
        """The hashes of its secrets that work at ``now``."""
        hashes = [self.secret_hash, self.old_secret_hash] if self.old_secret_works(now) else [self.secret_hash]
        return [secret_hash for secret_hash in hashes if secret_hash]

    def credentials(self, now: int) -> list[str]:
        """The hashes of what it may prove itself with at ``now``."""
        return [*self.secrets(now), hash_token(self.public_key)] if self.public_key else self.secrets(now)


_CLIENTS = Table("oauth_clients", Client)
_REFUSED = "SELECT 1 FROM ended_access_tokens WHERE token_hash = :hash"


def create(
    service: Service,
    *,
    name: str,
    scope: str = scopes.ALL,
    project_id: str | None = None,
    origin: Origin = "cli",
    public_key: str = "",
) -> tuple[Client, str]:
    """Make a client; the second value is its secret, which is shown this once. With a ``public_key`` it has none, "".

    Raises :class:`webapp.service.domain.base.scopes.UnknownScope`.
    """
    secret, now = "" if public_key else random_base62(43), service.clock()
    scopes.parse(scope)
    client = Client(random_base62(24), project_id, name, scope, hash_token(secret), origin, now, now)
    if public_key:
        client = replace(client, secret_hash="", public_key=public_key)
    with service.store.write() as tx:
        insert(tx, client)
    return client, secret


def insert(tx: Tx, client: Client) -> None:
    """Keep a new client."""
    _CLIENTS.insert(tx, client)
    note(tx, client.created_at, client, "created", f"was made, with the scope {client.scope}")


def change(tx: Tx, client_id: str, **columns: Any) -> None:
    """Write ``columns`` of a client; for :mod:`client_changes`."""
    _CLIENTS.update(tx, client_id, **columns)


def remove(tx: Tx, client_id: str) -> None:
    """Forget a client; for :mod:`client_changes`."""
    _CLIENTS.delete(tx, client_id)


def note(tx: Tx, at: int, client: Client, verb: str, what: str) -> None:
    """Write what was done to ``client`` into the audit."""
    sentence = f"The OAuth client {client.name} {what}."
    audit.write(tx, at, "client", client.id, verb, sentence, project=client.project_id)


def dashboard(service: Service) -> tuple[str, str]:
    """The id and secret of the embedded dashboard's own client; both derived from the instance key, never stored."""
    return DASHBOARD_ID, service.keys.derive("dashboard-client").hex()


def get(reader: Reader, client_id: str) -> Client:
    """The client under ``client_id``. Raises :class:`NotFound`."""
    client = _CLIENTS.get(reader, client_id)
    if client is None:
        raise NotFound(f"There is no OAuth client {client_id}.")
    return client


def page(reader: Reader, window: cursors.Window) -> cursors.Page[Client]:
    """Clients, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return _CLIENTS.page(reader, window, "1 = 1")


def every(reader: Reader) -> list[Client]:
    """All clients, oldest first."""
    return _CLIENTS.all(reader, "1 = 1 ORDER BY created_at, id")


def of_scripts(reader: Reader) -> list[Client]:
    """Those made for scripts, oldest first."""
    return _CLIENTS.all(reader, "origin = 'init' ORDER BY created_at, id")


def past_overlap(reader: Reader, now: int) -> list[Client]:
    """Those whose secret before the present one has ended by ``now``, and is still kept."""
    return _CLIENTS.all(reader, "old_secret_ends_at <= :now", {"now": now})


def example(service: Service) -> tuple[str, str]:
    """The id and secret of the example product's client, which is never stored either and there with the sandbox."""
    return EXAMPLE_ID, service.keys.derive("example-client").hex()


def find(service: Service, client_id: str) -> Client | None:
    """The client under ``client_id``, those that are never stored included."""
    return _never_stored(service, client_id) or _CLIENTS.get(service.store, client_id)


def _never_stored(service: Service, client_id: str) -> Client | None:
    own_id, own_secret = dashboard(service)
    if client_id == own_id:
        return Client(own_id, None, "Dashboard", scopes.ALL, hash_token(own_secret), "dashboard", 0, 0)
    return _example(service) if client_id == EXAMPLE_ID else None


def _example(service: Service) -> Client | None:
    """It sees the project that the dashboard works in alone, and may do what its page needs."""
    project_id = projects.default_id(service, service.store)
    if not service.settings.sandbox or not project_id:
        return None
    scope = " ".join((scopes.TOKENS_CREATE, scopes.ACCOUNTS_READ, scopes.PROJECTS_READ))
    return Client(EXAMPLE_ID, project_id, "Example product", scope, hash_token(example(service)[1]), "dashboard", 0, 0)


def authenticate(service: Service, client_id: str, client_secret: str) -> Client | None:
    """The client whose id and secret these are, or None. An unknown id takes the same path as a wrong secret."""
    client, shown = find(service, client_id), hash_token(client_secret)
    known = client.secrets(service.clock()) if client else [hash_token("")]
    right = [same(credential, shown) for credential in known]
    return client if any(right) else None


LIFETIME_S = 3600
REMEMBERED = 30 * DAY
PURPOSE = "access-tokens"  # what the key that signs them is derived for
_MARK = 16  # characters of a credential's hash in a token


@dataclass(frozen=True, slots=True)
class AccessToken:
    """An access token that was just issued (RFC 6749 section 5.1). ``created_at`` is in Unix seconds."""

    token: str
    scope: str
    created_at: int


def covers(granted: Iterable[str], needed: str) -> bool:
    """Whether one of ``granted`` admits ``needed``: itself, or a wildcard above it."""
    return any(have == needed or (have.endswith("*") and needed.startswith(have[:-1])) for have in granted)


def issue_token(service: Service, client: Client, scope: str | None, credential: str = "") -> AccessToken:
    """An access token for ``client``, narrowed to ``scope`` when that is given.

    It lives as long as ``credential``, the hash of what the client showed; the newest secret's unless that is given.
    Raises :class:`webapp.service.domain.base.scopes.UnknownScope` for a scope that is unknown or beyond the
    client's own.
    """
    own = scopes.parse(client.scope)
    requested = scopes.parse(scope) if scope and scope.strip() else own
    for name in requested:
        if not covers(own, name):
            raise scopes.UnknownScope(f"This client may not ask for the scope {name!r}.")
    now = service.clock() // SECOND
    granted = " ".join(requested)
    mark = (credential or client.secret_hash)[:_MARK]
    signed = _serializer(service.keys.derive(PURPOSE)).dumps([client.id, granted, now, mark])
    return AccessToken(signed if isinstance(signed, str) else signed.decode(), granted, now)


def verify_token(service: Service, token: str) -> tuple[Client, frozenset[str]]:
    """The client and the scopes of an access token. Raises :class:`Unauthorized`."""
    try:
        client_id, granted, issued, mark = _signed_by(service.keys.derive(PURPOSE), token)
    except (BadData, ValueError, TypeError, UnicodeError) as error:
        raise Unauthorized("The access token is not valid; get a new one at /v1/oauth/token.") from error
    own, params = _never_stored(service, client_id), {"id": client_id, "hash": hash_token(token)}
    stored = None if own else _CLIENTS.one(service.store, f"id = :id AND NOT EXISTS ({_REFUSED})", params)
    age = service.clock() // SECOND - issued
    if not -60 <= age < LIFETIME_S or (stored is None and _has_ended(service, token)):
        if age >= LIFETIME_S:
            _end(service, token)
        raise Unauthorized("The access token has expired; get a new one at /v1/oauth/token.")
    client = own or stored
    if client is None or all(mark != credential[:_MARK] for credential in client.credentials(service.clock())):
        raise Unauthorized("The access token was revoked; get a new one at /v1/oauth/token.")
    _note_use(service, client)
    return client, frozenset(granted.split())


def purge_tokens(service: Service) -> int:
    """Forget those that were refused more than 30 days ago; how many there were."""
    limit = {"limit": service.clock() - REMEMBERED}
    if service.store.one("SELECT 1 FROM ended_access_tokens WHERE ended_at < :limit LIMIT 1", limit) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("DELETE FROM ended_access_tokens WHERE ended_at < :limit", limit)


def _has_ended(service: Service, token: str) -> bool:
    """Whether ``token`` was refused as expired before."""
    return service.store.one(_REFUSED, {"hash": hash_token(token)}) is not None


def _end(service: Service, token: str) -> None:
    """Remember that ``token`` has expired. It is refused either way, so a store that is busy does not matter."""
    if _has_ended(service, token):
        return
    sql = "INSERT INTO ended_access_tokens (token_hash, ended_at) VALUES (:hash, :now) ON CONFLICT DO NOTHING"
    with suppress(Unavailable), service.store.write() as tx:
        tx.run(sql, {"hash": hash_token(token), "now": service.clock()})


@functools.lru_cache(maxsize=1024)  # whose signature it is never changes; whether it still counts is asked each time
def _signed_by(key: bytes, token: str) -> tuple[str, str, int, str]:
    client_id, granted, issued, mark = _serializer(key).loads(token)
    return client_id, granted, issued, mark


def _serializer(key: bytes) -> URLSafeSerializer:
    """Signs with HMAC-SHA256; what was signed with SHA-1 by earlier versions is read until it expires."""
    sha256, sha1 = {"digest_method": hashlib.sha256}, {"digest_method": hashlib.sha1}
    return URLSafeSerializer(key, salt="oauth", signer_kwargs=sha256, fallback_signers=[sha1])


WRITTEN_EVERY = MINUTE  # when a client called last is told to the minute


def _write_uses(service: Service, uses: Mapping[str, int]) -> None:
    with service.store.write() as tx:
        for client_id, at in uses.items():
            _CLIENTS.update(tx, client_id, last_used_at=at)


_USES = Gathered(_write_uses)
flush_uses = _USES.flush


def _note_use(service: Service, client: Client) -> None:
    """Keep that ``client`` called; no call waits until that is written."""
    now = service.clock()
    if client.origin != "dashboard" and now - (client.last_used_at or 0) >= WRITTEN_EVERY:
        _USES.note(service, client.id, now)
