"""OAuth clients of the workspace (table ``oauth_clients``; contract "Access tokens"; RFC 6749).

Clients use client credentials alone. A secret is stored as its SHA-256; the scripted client that ``patchbay init``
prints derives its secret from the instance key instead, so that it can be printed again. Their access tokens stand in
:mod:`access_tokens`.
"""

import base64
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import unquote_plus

from webapp import audit
from webapp.errors import NotFound
from webapp.kit import secrets
from webapp.kit.ids import random_base62
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
        client = _CLIENTS.get(tx, client_id)
        if client is None:
            raise NotFound(f"There is no OAuth client {client_id}.")
        now = max(service.clock(), client.rotated_at + 1)
        scripted = client.origin == "init"
        secret = _derived_secret(service.keys, client.id, client.created_at, now) if scripted else random_base62(43)
        rotated = replace(client, secret_hash=secrets.hash_token(secret), rotated_at=now)
        _CLIENTS.update(tx, client.id, secret_hash=rotated.secret_hash, rotated_at=now)
        _note(tx, now, client, "rotated", "has a new secret; the old one and its tokens ended")
    return rotated, secret


def derive_again(tx: Tx, keys: Keyring) -> None:
    """Give the clients of scripts the secrets that follow from another instance key."""
    for client in _CLIENTS.all(tx, "origin = 'init'"):
        secret = _derived_secret(keys, client.id, client.created_at, client.rotated_at)
        _CLIENTS.update(tx, client.id, secret_hash=secrets.hash_token(secret))


def every(reader: Reader) -> list[Client]:
    """All clients, oldest first."""
    return _CLIENTS.all(reader, "1 = 1 ORDER BY created_at, id")


def find(service: Service, client_id: str) -> Client | None:
    """The client under ``client_id``, the dashboard's own included."""
    own_id, own_secret = dashboard(service)
    if client_id == own_id:
        return Client(own_id, None, "Dashboard", scopes.ALL, secrets.hash_token(own_secret), "dashboard", 0, 0)
    return _CLIENTS.get(service.store, client_id)


def authenticate(service: Service, client_id: str, client_secret: str) -> Client | None:
    """The client whose id and secret these are, or None. An unknown id takes the same path as a wrong secret."""
    client = find(service, client_id)
    known = client.secret_hash if client else secrets.hash_token("")
    right = secrets.same(known, secrets.hash_token(client_secret))
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
    return Client(client_id, project_id, name, scope, secrets.hash_token(secret), origin, now, now)


def _insert(service: Service, client: Client) -> None:
    with service.store.write() as tx:
        _CLIENTS.insert(tx, client)
        _note(tx, client.created_at, client, "created", f"was made, with the scope {client.scope}")


def _note(tx: Tx, at: int, client: Client, verb: str, what: str) -> None:
    sentence = f"The OAuth client {client.name} {what}."
    audit.write(tx, at, "client", client.id, verb, sentence, project=client.project_id)
