"""OAuth clients of the workspace and their access tokens (table ``oauth_clients``; contract "Access tokens"; RFC 6749).

Clients use client credentials alone. A secret is stored as its SHA-256; the scripted client that ``patchbay init``
prints derives its secret from the instance key instead, so that it can be printed again.

Access tokens are signed, not stored, so checking one is cheap; each carries a mark of its client's secret and dies with
it. Those refused as expired are remembered (table ``ended_access_tokens``), so that a clock set back revives none.
"""

import base64
import functools
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import unquote_plus

from itsdangerous import BadData, URLSafeSerializer

from webapp import audit
from webapp.errors import NotFound, Unauthorized, Unavailable
from webapp.kit import cursors
from webapp.kit.clock import DAY, SECOND
from webapp.kit.crypto import hash_token, random_base62, same
from webapp.service.domain.access import tokens
from webapp.service.domain.base import scopes
from webapp.service.domain.base.keyring import Keyring
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

Origin = Literal["init", "cli", "person", "dashboard"]
DASHBOARD_ID = "dashboard"


@dataclass(frozen=True, slots=True)
class Client:
    """An OAuth client. ``project_id`` is None when it sees every project."""

    id: str
    project_id: str | None
    name: str
    scope: str
    secret_hash: str
    origin: str
    created_at: int
    rotated_at: int


_CLIENTS = Table("oauth_clients", Client)


def create(
    service: Service, *, name: str, scope: str = scopes.ALL, project_id: str | None = None, origin: Origin = "cli"
) -> tuple[Client, str]:
    """Make a client; the second value is its secret, which is shown this once.

    Raises :class:`webapp.service.domain.base.scopes.UnknownScope`.
    """
    secret = random_base62(43)
    client = _new(service, random_base62(24), name, scope, project_id, secret, origin)
    _insert(service, client)
    return client, secret


def scripted(service: Service) -> tuple[Client, str]:
    """The client that scripts use, and its secret: made by the first call, the same afterwards."""
    client = _CLIENTS.one(service.store, "origin = 'init' ORDER BY created_at, id LIMIT 1")
    if client is not None:
        return client, _derived_secret(service.keys, client.id, client.created_at, client.rotated_at)
    now, client_id = service.clock(), random_base62(24)
    secret = _derived_secret(service.keys, client_id, now, now)
    client = _new(service, client_id, "Scripts", scopes.ALL, None, secret, "init", now)
    _insert(service, client)
    return client, secret


def dashboard(service: Service) -> tuple[str, str]:
    """The id and secret of the embedded dashboard's own client; both derived from the instance key, never stored."""
    return DASHBOARD_ID, service.keys.derive("dashboard-client").hex()


def rotate(service: Service, client_id: str) -> tuple[Client, str]:
    """Give a client a new secret; its old secret and every token made with it end at once.

    Raises :class:`NotFound`.
    """
    with service.store.write() as tx:
        client = get(tx, client_id)
        now = max(service.clock(), client.rotated_at + 1)
        scripted = client.origin == "init"
        secret = _derived_secret(service.keys, client.id, client.created_at, now) if scripted else random_base62(43)
        rotated = replace(client, secret_hash=hash_token(secret), rotated_at=now)
        _CLIENTS.update(tx, client.id, secret_hash=rotated.secret_hash, rotated_at=now)
        _note(tx, now, client, "rotated", "has a new secret; the old one and its tokens ended")
    return rotated, secret


def delete(service: Service, client_id: str) -> None:
    """Remove a client. Its access tokens and the Connect tokens that it asked for end at once.

    Raises :class:`NotFound`.
    """
    with service.store.write() as tx:
        client = get(tx, client_id)
        tokens.revoke_all(tx, client_id=client.id)
        _CLIENTS.delete(tx, client.id)
        _note(tx, service.clock(), client, "deleted", "was deleted; its tokens ended")


def derive_again(tx: Tx, keys: Keyring) -> None:
    """Give the clients of scripts the secrets that follow from another instance key."""
    for client in _CLIENTS.all(tx, "origin = 'init'"):
        secret = _derived_secret(keys, client.id, client.created_at, client.rotated_at)
        _CLIENTS.update(tx, client.id, secret_hash=hash_token(secret))


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


def find(service: Service, client_id: str) -> Client | None:
    """The client under ``client_id``, the dashboard's own included."""
    own_id, own_secret = dashboard(service)
    if client_id == own_id:
        return Client(own_id, None, "Dashboard", scopes.ALL, hash_token(own_secret), "dashboard", 0, 0)
    return _CLIENTS.get(service.store, client_id)


def authenticate(service: Service, client_id: str, client_secret: str) -> Client | None:
    """The client whose id and secret these are, or None. An unknown id takes the same path as a wrong secret."""
    client = find(service, client_id)
    known = client.secret_hash if client else hash_token("")
    right = same(known, hash_token(client_secret))
    return client if right else None


def parse_basic(header: str) -> tuple[str, str] | None:
    """The client id and secret in an ``Authorization: Basic`` header (RFC 6749 section 2.3.1), if they are there."""
    kind, _, encoded = header.partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        user, colon, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:  # not base64, not ASCII or not UTF-8
        return None
    return (unquote_plus(user), unquote_plus(password)) if colon else None


def _derived_secret(keys: Keyring, client_id: str, created_at: int, rotated_at: int) -> str:
    purpose = f"scripted-client|{client_id}|{created_at}|{rotated_at}"
    return base64.urlsafe_b64encode(keys.derive(purpose)).rstrip(b"=").decode()


def _new(
    service: Service,
    client_id: str,
    name: str,
    scope: str,
    project_id: str | None,
    secret: str,
    origin: Origin,
    now: int | None = None,
) -> Client:
    scopes.parse(scope)
    now = service.clock() if now is None else now
    return Client(client_id, project_id, name, scope, hash_token(secret), origin, now, now)


def _insert(service: Service, client: Client) -> None:
    with service.store.write() as tx:
        _CLIENTS.insert(tx, client)
        _note(tx, client.created_at, client, "created", f"was made, with the scope {client.scope}")


def _note(tx: Tx, at: int, client: Client, verb: str, what: str) -> None:
    sentence = f"The OAuth client {client.name} {what}."
    audit.write(tx, at, "client", client.id, verb, sentence, project=client.project_id)


LIFETIME_S = 3600
REMEMBERED = 30 * DAY
PURPOSE = "access-tokens"  # what the key that signs them is derived for


@dataclass(frozen=True, slots=True)
class AccessToken:
    """An access token that was just issued (RFC 6749 section 5.1). ``created_at`` is in Unix seconds."""

    token: str
    scope: str
    created_at: int


def covers(granted: Iterable[str], needed: str) -> bool:
    """Whether one of ``granted`` admits ``needed``: itself, or a wildcard above it."""
    return any(have == needed or (have.endswith("*") and needed.startswith(have[:-1])) for have in granted)


def issue_token(service: Service, client: Client, scope: str | None) -> AccessToken:
    """An access token for ``client``, narrowed to ``scope`` when that is given.

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
    signed = _serializer(service.keys.derive(PURPOSE)).dumps([client.id, granted, now, client.secret_hash[:16]])
    return AccessToken(signed if isinstance(signed, str) else signed.decode(), granted, now)


def verify_token(service: Service, token: str) -> tuple[Client, frozenset[str]]:
    """The client and the scopes of an access token. Raises :class:`Unauthorized`."""
    try:
        client_id, granted, issued, mark = _signed_by(service.keys.derive(PURPOSE), token)
    except (BadData, ValueError, TypeError, UnicodeError) as error:
        raise Unauthorized("The access token is not valid; get a new one at /v1/oauth/token.") from error
    age = service.clock() // SECOND - issued
    if not -60 <= age < LIFETIME_S or _has_ended(service, token):
        if age >= LIFETIME_S:
            _end(service, token)
        raise Unauthorized("The access token has expired; get a new one at /v1/oauth/token.")
    client = find(service, client_id)
    if client is None or client.secret_hash[:16] != mark:
        raise Unauthorized("The access token was revoked; get a new one at /v1/oauth/token.")
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
    sql = "SELECT 1 FROM ended_access_tokens WHERE token_hash = :hash"
    return service.store.one(sql, {"hash": hash_token(token)}) is not None


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
