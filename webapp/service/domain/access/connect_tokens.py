"""Connect tokens (table ``connect_tokens``; contract "Connect tokens"): created, verified, ended and forgotten.

A token is for one external user of one scene, and is stored as its SHA-256. Its row is kept for 7 days after its
expiry, so that the page which has it can still read the 401 across origins.
"""

import secrets as random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from webapp.connect_token_facts import MAX_LIFETIME_S, PREFIX, REMEMBERED_S
from webapp.errors import Invalid, Unauthorized
from webapp.kit.clock import MINUTE, SECOND, iso
from webapp.kit.crypto import hash_token
from webapp.service.domain.access import allowed_origins
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.failures import LinkUsed
from webapp.service.domain.base.keyring import KeyGone
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store import table
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

USUAL_LIFETIME_S = MAX_LIFETIME_S  # of a token that is asked for without one
LONGEST_LEFT = MAX_LIFETIME_S * SECOND + MINUTE  # more is left only of one that was made before the clock was set back
MAX_URI = 2_000


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """The request for a new token (contract "Connect tokens"); ``expires_in`` is in seconds."""

    external_user_id: str
    expires_in: int = USUAL_LIFETIME_S
    scope: str = token_scopes.CONNECT
    allowed_origins: Sequence[str] = ()
    success_redirect_uri: str | None = None
    error_redirect_uri: str | None = None
    webhook_uri: str | None = None
    allow_progressive_scopes: bool = False
    app: str | None = None
    oauth_app_id: str | None = None


@dataclass(frozen=True, slots=True)
class _StoredToken:
    """A row.

    The token itself is kept, sealed, only if notifications must contain it; their address is sealed, too. ``linked_by``
    is the attempt that used up the token's Connect Link.
    """

    token_hash: str
    scene: Scene
    external_user_id: str
    client_id: str | None
    scope: str
    allowed_origins: tuple[str, ...]
    success_redirect_uri: str | None
    error_redirect_uri: str | None
    allow_progressive_scopes: bool
    app: str | None
    oauth_app_id: str | None
    created_at: int
    expires_at: int
    token_sealed: bytes | None = field(repr=False, default=None)
    webhook_uri_sealed: bytes | None = field(repr=False, default=None)
    ended: bool = False
    linked_by: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectToken(_StoredToken):
    """A Connect token with the developer's id of its user. ``expires_at`` is 0 once it has ended."""

    external_id: str = ""

    @property
    def user(self) -> ExternalUser:
        """Whom it works for."""
        return ExternalUser(self.external_user_id, self.external_id, self.scene)

    @property
    def scopes(self) -> frozenset[str]:
        """The scopes of the token."""
        return frozenset(self.scope.split())

    def allows(self, origin: str) -> bool:
        """Whether pages of ``origin`` may show the token: frame the Connect Link, call the API, be returned to.

        It is compared as browsers write it, without wildcards. Our own pages may without being listed, which callers
        see to.
        """
        return origin in self.allowed_origins


_TOKEN = SealedColumn("connect_tokens", "token_sealed", key="token_hash")
_WEBHOOK_URI = SealedColumn("connect_tokens", "webhook_uri_sealed", key="token_hash")
SEALED = (_TOKEN, _WEBHOOK_URI)
_TOKENS = Table("connect_tokens", _StoredToken, key="token_hash")
_SELECT = (
    f"SELECT {', '.join(f't.{column.name}' for column in _TOKENS.fields)}, u.external_id "  # noqa: S608
    "FROM connect_tokens t JOIN external_users u ON u.id = t.external_user_id WHERE t.token_hash = :hash"
)
_make = table.maker(ConnectToken)


def create(service: Service, scene: Scene, request: TokenRequest, *, client_id: str | None) -> dict[str, Any]:
    """Make a token and answer as contract "Connect tokens" has it. Raises :class:`Invalid`."""
    token, now = PREFIX + random.token_hex(16), service.clock()
    origins = allowed_origins.checked(request.allowed_origins) if request.allowed_origins else ()
    scope = _scope(request.scope)
    for name in ("success_redirect_uri", "error_redirect_uri", "webhook_uri"):
        _check_uri(name, getattr(request, name))
    with service.store.write() as tx:
        stored = _StoredToken(
            token_hash=hash_token(token),
            scene=scene,
            external_user_id=external_users.ensure(tx, scene, request.external_user_id, now).id,
            client_id=client_id,
            scope=scope,
            allowed_origins=origins,
            success_redirect_uri=request.success_redirect_uri,
            error_redirect_uri=request.error_redirect_uri,
            allow_progressive_scopes=request.allow_progressive_scopes,
            app=request.app,
            oauth_app_id=request.oauth_app_id,
            created_at=now,
            expires_at=now + request.expires_in * SECOND,
            token_sealed=_sealed(service, tx, scene, request, token),
            webhook_uri_sealed=_sealed_uri(service, tx, scene.project_id, hash_token(token), request.webhook_uri),
        )
        _TOKENS.insert(tx, stored)
        if stored.allowed_origins:
            allowed_origins.remember(tx, stored.allowed_origins, stored.expires_at)
    link = f"{service.settings.public_url}/_static/connect.html?token={token}&connectLink=true"
    return {"token": token, "expires_at": iso(stored.expires_at), "connect_link_url": link}


def verify(service: Service, token: str) -> ConnectToken:
    """The live token ``token``. Raises :class:`Unauthorized`."""
    known = recall(service.store, token)
    if known is None:
        raise Unauthorized("The Connect token is not known; create a new one.")
    left = known.expires_at - service.clock()
    if left <= 0:
        expire(service)
    if not 0 < left <= LONGEST_LEFT:
        raise Unauthorized("The Connect token has expired; create a new one.")
    return known


def recall(reader: Reader, token: str) -> ConnectToken | None:
    """The token ``token`` even when it has expired, while its row is remembered."""
    return by_hash(reader, hash_token(token)) if token.startswith(PREFIX) else None


def by_hash(reader: Reader, token_hash: str) -> ConnectToken | None:
    """The token that was stored as ``token_hash``, live or expired."""
    rows = reader.tuples(_SELECT, {"hash": token_hash})
    if not rows:
        return None
    token = _make(rows[0])
    return replace(token, expires_at=0) if token.ended else token


def check_link(token: ConnectToken) -> None:
    """Raise :class:`LinkUsed` unless the token's Connect Link is unused: it is good for one account.

    A portal has no such link.
    """
    if token.linked_by is not None:
        raise LinkUsed


def use_link(tx: Tx, token: ConnectToken, attempt_id: str) -> None:
    """Use up the token's Connect Link for ``attempt_id``. Raises :class:`LinkUsed` if it was used before.

    The API still accepts the token.
    """
    sql = "UPDATE connect_tokens SET linked_by = :attempt WHERE token_hash = :hash AND linked_by IS NULL"
    if not tx.run(sql, {"attempt": attempt_id, "hash": token.token_hash}):
        raise LinkUsed


def revoke_all(
    tx: Tx, *, user: ExternalUser | None = None, project_id: str | None = None, client_id: str | None = None
) -> int:
    """End every token of a user, a project or a client; how many there were. Their pages stop at once."""
    owners = {"external_user_id": user and user.id, "project_id": project_id, "client_id": client_id}
    ((column, value),) = ((name, owner) for name, owner in owners.items() if owner is not None)
    return tx.run(f"DELETE FROM connect_tokens WHERE {column} = :value", {"value": value})  # noqa: S608


def in_the_clear(service: Service, token: ConnectToken) -> str | None:
    """The token in plain text, for a notification that contains it; None if it was not kept."""
    if token.token_sealed is None:
        return None
    with suppress(KeyGone):  # it was removed since it was read
        return _TOKEN.open(service, token.scene.project_id, token.token_hash, token.token_sealed).decode()
    return None


def webhook_uri_of(service: Service, token: ConnectToken) -> str | None:
    """The URL for notifications about ``token``, if it has one of its own."""
    if token.webhook_uri_sealed is None:
        return None
    with suppress(KeyGone):  # it was removed since it was read
        return _WEBHOOK_URI.open(service, token.scene.project_id, token.token_hash, token.webhook_uri_sealed).decode()
    return None


def seal_addresses(service: Service) -> bool:
    """Seal some addresses of notifications that earlier versions stored in plain text; return whether there were
    any.
    """
    if service.store.one("SELECT 1 FROM connect_tokens WHERE webhook_uri IS NOT NULL LIMIT 1") is None:
        return False
    with service.store.write() as tx:
        rows = tx.tuples(
            "SELECT token_hash, project_id, webhook_uri FROM connect_tokens WHERE webhook_uri IS NOT NULL LIMIT 200"
        )
        for token_hash, project_id, uri in rows:
            sealed = _sealed_uri(service, tx, project_id, token_hash, uri)
            _TOKENS.update(tx, token_hash, webhook_uri=None, webhook_uri_sealed=sealed)
    return True


def expire(service: Service) -> int:
    """End for good those whose time is over, so that a clock that is set back revives none; how many there were."""
    over = {"now": service.clock()}
    if service.store.one("SELECT 1 FROM connect_tokens WHERE ended = 0 AND expires_at <= :now LIMIT 1", over) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("UPDATE connect_tokens SET ended = 1 WHERE ended = 0 AND expires_at <= :now", over)


def purge(service: Service) -> int:
    """Forget tokens that expired more than 7 days ago; how many there were."""
    limit = {"limit": service.clock() - REMEMBERED_S * SECOND}
    with service.store.write() as tx:
        allowed_origins.purge(tx, limit["limit"])
        return tx.run("DELETE FROM connect_tokens WHERE expires_at < :limit", limit)


def _sealed(service: Service, tx: Tx, scene: Scene, request: TokenRequest, token: str) -> bytes | None:
    """The token, sealed, if a notification will contain it; else None."""
    if request.webhook_uri is None and not endpoints.general(tx, scene.project_id):
        return None
    return _TOKEN.seal(service, tx, scene.project_id, hash_token(token), token.encode())


def _sealed_uri(service: Service, tx: Tx, project_id: str, token_hash: str, uri: str | None) -> bytes | None:
    return _WEBHOOK_URI.seal(service, tx, project_id, token_hash, uri.encode()) if uri is not None else None


def _scope(text: str) -> str:
    try:
        granted = token_scopes.parse(text) or (token_scopes.CONNECT,)
    except token_scopes.UnknownScope as error:
        raise Invalid.of("scope", str(error)) from error
    if token_scopes.ALL in granted:
        raise Invalid.of("scope", "The scope * cannot be granted to a Connect token; use connect:*.")
    return " ".join(granted)


def _check_uri(field: str, uri: str | None) -> None:
    if uri is None:
        return
    try:
        parts = urlsplit(uri)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        usable = usable and "@" not in parts.netloc  # it looks like one host and leads to another
    except ValueError:
        usable = False
    if not usable or len(uri) > MAX_URI or not uri.isprintable() or any(c in uri for c in ' "<>\\'):
        raise Invalid.of(
            field, f"It must be an http or https address of at most {MAX_URI:,} characters, without a user in it."
        )
