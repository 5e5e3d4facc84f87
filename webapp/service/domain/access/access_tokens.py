"""Access tokens of OAuth clients (contract "Access tokens"; RFC 6749): signed, not stored, so checking one is cheap.

Each carries a mark of its client's secret and dies with it. Those that were refused because they had expired are
remembered (table ``ended_access_tokens``), so that a clock which is set back revives none of them.
"""

import functools
from contextlib import suppress
from dataclasses import dataclass

from itsdangerous import BadData, URLSafeSerializer

from webapp.errors import Unauthorized, Unavailable
from webapp.kit.clock import DAY, SECOND
from webapp.kit.secrets import hash_token
from webapp.service.domain.access import clients
from webapp.service.domain.access.clients import Client
from webapp.service.domain.base import scopes
from webapp.service.domain.base.service import Service

LIFETIME_S = 3600
REMEMBERED = 30 * DAY
PURPOSE = "access-tokens"  # what the key that signs them is derived for


@dataclass(frozen=True, slots=True)
class AccessToken:
    """An access token that was just issued (RFC 6749 section 5.1). ``created_at`` is in Unix seconds."""

    token: str
    scope: str
    created_at: int


def issue(service: Service, client: Client, scope: str | None) -> AccessToken:
    """An access token for ``client``, narrowed to ``scope`` when that is given.

    Raises :class:`webapp.service.domain.base.scopes.UnknownScope` for a scope that is unknown or beyond the
    client's own.
    """
    own = scopes.parse(client.scope)
    requested = scopes.parse(scope) if scope and scope.strip() else own
    for name in requested:
        if not scopes.covers(own, name):
            raise scopes.UnknownScope(f"This client may not ask for the scope {name!r}.")
    now = service.clock() // SECOND
    granted = " ".join(requested)
    signed = _serializer(service.keys.derive(PURPOSE)).dumps([client.id, granted, now, client.secret_hash[:16]])
    return AccessToken(signed if isinstance(signed, str) else signed.decode(), granted, now)


def verify(service: Service, token: str) -> tuple[Client, frozenset[str]]:
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
    client = clients.find(service, client_id)
    if client is None or client.secret_hash[:16] != mark:
        raise Unauthorized("The access token was revoked; get a new one at /v1/oauth/token.")
    return client, frozenset(granted.split())


def purge(service: Service) -> int:
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
    return URLSafeSerializer(key, salt="oauth")
