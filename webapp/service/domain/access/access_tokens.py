"""Access tokens of OAuth clients (contract "Access tokens"; RFC 6749): issued with narrowed scopes, and verified.

They are signed and not stored, so checking one is cheap; each contains a mark of the credential that it was issued for,
and ends with that credential. Tokens that were refused as expired are recorded (table ``ended_access_tokens``), so that
a clock that is set back does not revive them.
"""

import functools
import hashlib
from contextlib import suppress
from dataclasses import dataclass

from itsdangerous import BadData, URLSafeSerializer

from webapp.errors import Unauthorized, Unavailable
from webapp.kit.clock import DAY, SECOND
from webapp.kit.crypto import hash_token
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.access.oauth_clients import OAuthClient
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service

LIFETIME_S = 3600
REMEMBERED = 30 * DAY
PURPOSE = "access-tokens"  # what the key that signs them is derived for
_MARK = 16  # characters of a credential's hash in a token
_REFUSED = "SELECT 1 FROM ended_access_tokens WHERE token_hash = :hash"


@dataclass(frozen=True, slots=True)
class AccessToken:
    """An access token that was just issued (RFC 6749 section 5.1). ``created_at`` is in Unix seconds."""

    token: str
    scope: str
    created_at: int


def issue(service: Service, client: OAuthClient, scope: str | None, credential: str = "") -> AccessToken:
    """Return an access token for ``client``, narrowed to ``scope`` if given.

    It is valid as long as ``credential``, the hash of what the client presented; by default the newest secret's. Raises
    :class:`webapp.service.domain.base.token_scopes.UnknownScope` for a scope that is unknown or not the client's.
    """
    own = token_scopes.parse(client.scope)
    requested = token_scopes.parse(scope) if scope and scope.strip() else own
    for name in requested:
        if not token_scopes.covers(own, name):
            raise token_scopes.UnknownScope(f"This client may not ask for the scope {name!r}.")
    now = service.clock() // SECOND
    granted = " ".join(requested)
    mark = (credential or client.secret_hash)[:_MARK]
    signed = _serializer(service.keys.derive(PURPOSE)).dumps([client.id, granted, now, mark])
    return AccessToken(signed if isinstance(signed, str) else signed.decode(), granted, now)


def verify(service: Service, token: str) -> tuple[OAuthClient, frozenset[str]]:
    """The client and the scopes of an access token. Raises :class:`Unauthorized`."""
    try:
        client_id, granted, issued, mark = _signed_by(service.keys.derive(PURPOSE), token)
    except (BadData, ValueError, TypeError, UnicodeError) as error:
        raise Unauthorized("The access token is not valid; get a new one at /v1/oauth/token.") from error
    client = oauth_clients.find(service, client_id, unless=f"EXISTS ({_REFUSED})", hash=hash_token(token))
    age = service.clock() // SECOND - issued
    if not -60 <= age < LIFETIME_S or ((client is None or client.is_built_in) and _has_ended(service, token)):
        if age >= LIFETIME_S:
            _end(service, token)
        raise Unauthorized("The access token has expired; get a new one at /v1/oauth/token.")
    if client is None or all(mark != credential[:_MARK] for credential in client.credentials(service.clock())):
        raise Unauthorized("The access token was revoked; get a new one at /v1/oauth/token.")
    oauth_clients.note_use(service, client)
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
    """The serializer, which signs with HMAC-SHA256, and reads SHA-1 signatures of earlier versions until they
    expire.
    """
    sha256, sha1 = {"digest_method": hashlib.sha256}, {"digest_method": hashlib.sha1}
    return URLSafeSerializer(key, salt="oauth", signer_kwargs=sha256, fallback_signers=[sha1])
