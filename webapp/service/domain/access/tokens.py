"""Connect tokens (tables ``connect_tokens``, ``token_origins``; contract "Connect tokens").

A token is scoped to one external user of one scene. It is stored as its SHA-256, and its row stays 7 days past its
expiry, so that the page which holds it can still read its 401 across origins.
"""

import json
import secrets as random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from webapp.errors import Detail, Invalid, Unauthorized
from webapp.kit.clock import DAY, MINUTE, SECOND, iso
from webapp.kit.secrets import hash_token
from webapp.service.domain.base import scopes
from webapp.service.domain.base.keyring import KeyGone, Place
from webapp.service.domain.base.sealed import SealedColumn
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Row, Tx

PREFIX = "ctok_"
MAX_LIFETIME_S = 14_400
LONGEST_LEFT = MAX_LIFETIME_S * SECOND + MINUTE  # more is left only of one that was made before the clock was set back
ORIGINS_REMEMBERED = 7 * DAY
MAX_ORIGINS = 100
MAX_URI = 2_000


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """What is asked of a new token (contract "Connect tokens"); ``expires_in`` is in seconds."""

    external_user_id: str
    expires_in: int = MAX_LIFETIME_S
    scope: str = scopes.CONNECT
    allowed_origins: Sequence[str] = ()
    success_redirect_uri: str | None = None
    error_redirect_uri: str | None = None
    webhook_uri: str | None = None
    allow_progressive_scopes: bool = False
    app: str | None = None
    oauth_app_id: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectToken:
    """A Connect token as it is kept: the token itself only sealed, and only where notifications have to name it."""

    hash: str
    user: ExternalUser
    scopes: frozenset[str]
    allowed_origins: tuple[str, ...]
    success_redirect_uri: str | None
    error_redirect_uri: str | None
    webhook_uri: str | None
    allow_progressive_scopes: bool
    app: str | None
    oauth_app_id: str | None
    expires_at: int
    token_sealed: bytes | None = field(repr=False, default=None)

    @property
    def scene(self) -> Scene:
        """The project and environment that the token works in."""
        return self.user.scene


def create(service: Service, scene: Scene, request: TokenRequest, *, client_id: str | None) -> dict[str, Any]:
    """Make a token and answer as contract "Connect tokens" has it. Raises :class:`Invalid`."""
    token, now = PREFIX + random.token_hex(16), service.clock()
    origins = _origins(request.allowed_origins)
    scope = _scope(request.scope)
    for name in ("success_redirect_uri", "error_redirect_uri", "webhook_uri"):
        _check_uri(name, getattr(request, name))
    expires_at = now + request.expires_in * SECOND
    with service.store.write() as tx:
        user = external_users.ensure(tx, scene, request.external_user_id, now)
        tx.run(
            "INSERT INTO connect_tokens (token_hash, project_id, environment, external_user_id, client_id, scope, "
            "allowed_origins, success_redirect_uri, error_redirect_uri, webhook_uri, allow_progressive_scopes, app, "
            "oauth_app_id, created_at, expires_at, token_sealed) VALUES (:hash, :project, :environment, :user, "
            ":client, :scope, :origins, :success, :error, :webhook, :progressive, :app, :oauth_app, :now, "
            ":expires, :sealed)",
            {
                "hash": hash_token(token),
                "project": scene.project_id,
                "environment": scene.environment,
                "user": user.id,
                "client": client_id,
                "scope": scope,
                "origins": json.dumps(origins),
                "success": request.success_redirect_uri,
                "error": request.error_redirect_uri,
                "webhook": request.webhook_uri,
                "progressive": int(request.allow_progressive_scopes),
                "app": request.app,
                "oauth_app": request.oauth_app_id,
                "now": now,
                "expires": expires_at,
                "sealed": _sealed(service, tx, scene, token) if _is_heard(tx, scene, request) else None,
            },
        )
        for origin in origins:
            tx.run(
                "INSERT INTO token_origins (origin, expires_at) VALUES (:origin, :expires) ON CONFLICT (origin) "
                "DO UPDATE SET expires_at = excluded.expires_at WHERE token_origins.expires_at < excluded.expires_at",
                {"origin": origin, "expires": expires_at},
            )
    link = f"{service.settings.public_url}/_static/connect.html?token={token}&connectLink=true"
    return {"token": token, "expires_at": iso(expires_at), "connect_link_url": link}


def verify(service: Service, token: str) -> ConnectToken:
    """The live token ``token``. Raises :class:`Unauthorized`."""
    found = recall(service.store, token)
    if found is None:
        raise Unauthorized("The Connect token is not known; create a new one.")
    left = found.expires_at - service.clock()
    if left <= 0:
        expire(service)
    if not 0 < left <= LONGEST_LEFT:
        raise Unauthorized("The Connect token has expired; create a new one.")
    return found


def recall(reader: Reader, token: str) -> ConnectToken | None:
    """The token ``token`` even when it has expired, while its row is remembered."""
    return by_hash(reader, hash_token(token)) if token.startswith(PREFIX) else None


def by_hash(reader: Reader, token_hash: str) -> ConnectToken | None:
    """The token that was stored as ``token_hash``, live or expired."""
    row = reader.one(
        "SELECT t.*, u.external_id FROM connect_tokens t JOIN external_users u ON u.id = t.external_user_id "
        "WHERE t.token_hash = :hash",
        {"hash": token_hash},
    )
    return _token(row) if row else None


def revoke_all(tx: Tx, *, user: ExternalUser | None = None, project_id: str | None = None) -> int:
    """End every token of a user, or of a whole project; how many there were. Their pages stop at once."""
    column, value = ("external_user_id", user.id) if user else ("project_id", project_id)
    return tx.run(f"DELETE FROM connect_tokens WHERE {column} = :value", {"value": value})  # noqa: S608


def in_the_clear(service: Service, token: ConnectToken) -> str | None:
    """The token itself, for the notification that names it; None when it was not kept."""
    if token.token_sealed is None:
        return None
    place = _place(token.scene.project_id, token.hash)
    try:
        return service.keys.open_box(place, token.token_sealed).decode()
    except KeyGone:  # sealed anew by a rotation since it was read
        again = by_hash(service.store, token.hash)
        if again is None or again.token_sealed == token.token_sealed:
            return None
        return in_the_clear(service, again)


def origin_is_allowed(service: Service, origin: str) -> bool:
    """Whether some live token, of whichever project, or one that expired within 7 days, allows ``origin``."""
    row = service.store.one("SELECT expires_at FROM token_origins WHERE origin = :origin", {"origin": origin})
    return row is not None and int(row["expires_at"]) + ORIGINS_REMEMBERED > service.clock()


def expire(service: Service) -> int:
    """End for good those whose time is over, so that a clock that is set back revives none; how many there were."""
    over = {"now": service.clock()}
    if service.store.one("SELECT 1 FROM connect_tokens WHERE ended = 0 AND expires_at <= :now LIMIT 1", over) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("UPDATE connect_tokens SET ended = 1 WHERE ended = 0 AND expires_at <= :now", over)


def purge(service: Service) -> int:
    """Forget tokens that expired more than 7 days ago; how many there were."""
    limit = {"limit": service.clock() - ORIGINS_REMEMBERED}
    with service.store.write() as tx:
        tx.run("DELETE FROM token_origins WHERE expires_at < :limit", limit)
        return tx.run("DELETE FROM connect_tokens WHERE expires_at < :limit", limit)


def exact_origin(text: str) -> str | None:
    """``text`` as the exact origin that a browser would send, or None when it is none (RFC 6454 section 6.1)."""
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or "*" in host or parts.username is not None:
        return None
    if parts.path not in ("", "/") or parts.query or parts.fragment or not text.isprintable() or " " in text:
        return None
    try:
        host = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return None
    shown = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, default) else "")


def _is_heard(tx: Tx, scene: Scene, request: TokenRequest) -> bool:
    """Whether somebody will be told what is connected with the token."""
    return request.webhook_uri is not None or bool(endpoints.general(tx, scene.project_id))


def _sealed(service: Service, tx: Tx, scene: Scene, token: str) -> bytes:
    return service.keys.seal_box(tx, _place(scene.project_id, hash_token(token)), token.encode())


def _place(project_id: str, token_hash: str) -> Place:
    return Place(project_id, "connect_tokens", token_hash, "token")


SEALED = SealedColumn("connect_tokens", "token_sealed", key="token_hash")


def _origins(given: Sequence[str]) -> list[str]:
    if len(given) > MAX_ORIGINS:
        raise _invalid("allowed_origins", f"At most {MAX_ORIGINS} origins can be allowed.")
    found = []
    for text in given:
        origin = exact_origin(text)
        if origin is None:
            raise _invalid(
                "allowed_origins", f"{text[:200]!r} is not an origin such as https://app.example.com (no path, no *)."
            )
        found.append(origin)
    return list(dict.fromkeys(found))


def _scope(text: str) -> str:
    try:
        found = scopes.parse(text) or (scopes.CONNECT,)
    except scopes.UnknownScope as error:
        raise _invalid("scope", str(error)) from error
    if scopes.ALL in found:
        raise _invalid("scope", "The scope * cannot be granted to a Connect token; use connect:*.")
    return " ".join(found)


def _check_uri(field: str, uri: str | None) -> None:
    if uri is None:
        return
    try:
        parts = urlsplit(uri)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or len(uri) > MAX_URI or not uri.isprintable() or any(c in uri for c in ' "<>\\'):
        raise _invalid(field, "It must be an http or https address of at most 2,000 characters.")


def _invalid(field: str, message: str) -> Invalid:
    return Invalid(f"{field} is not valid: {message}", [Detail(field, message)])


def _token(row: Row) -> ConnectToken:
    scene = Scene(row["project_id"], row["environment"])
    return ConnectToken(
        hash=row["token_hash"],
        user=ExternalUser(row["external_user_id"], row["external_id"], scene),
        scopes=frozenset(row["scope"].split()),
        allowed_origins=tuple(json.loads(row["allowed_origins"])),
        success_redirect_uri=row["success_redirect_uri"],
        error_redirect_uri=row["error_redirect_uri"],
        webhook_uri=row["webhook_uri"],
        allow_progressive_scopes=bool(row["allow_progressive_scopes"]),
        app=row["app"],
        oauth_app_id=row["oauth_app_id"],
        expires_at=0 if row["ended"] else row["expires_at"],
        token_sealed=row["token_sealed"],
    )
