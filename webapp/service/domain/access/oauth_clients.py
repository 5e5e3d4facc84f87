"""OAuth clients of the workspace (table ``oauth_clients``; contract "OAuth clients"; RFC 6749): what they authenticate
with. The tokens that they get are left to :mod:`.access_tokens`.

Clients use only the client-credentials grant. A secret is stored as its SHA-256. When a client gets a new secret, the
previous one can stay valid until a set time or until it is ended; the access tokens that were issued for it end with
it. The client for scripts, which ``patchbay init`` prints, derives its secret from the instance key, so that it can be
printed again. The time of a client's last call is written a moment after the call.

A client may have one public key, instead of a secret or in addition: RSA of 2,048 bits or more (RS256), P-256 (ES256)
or Ed25519 (EdDSA). At the token endpoint it then presents an assertion (RFC 7523, RFC 7521 section 4.2), which is
recent and accepted once across all processes. The library ``joserfc`` is imported when it is used.
"""

import base64
import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import orjson

from webapp import audit
from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.kit.crypto import hash_token, random_base62, same
from webapp.people import challenges
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.keyring import Keyring
from webapp.service.domain.base.service import Service
from webapp.service.domain.base.write_buffer import WriteBuffer
from webapp.service.domain.projects import projects
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

if TYPE_CHECKING:
    from joserfc.jwk import Key


Origin = Literal["init", "cli", "person", "dashboard"]
DASHBOARD_ID = "dashboard"
EXAMPLE_ID = "example-product"
OVERLAP_S = DAY // SECOND
MAX_OVERLAP_S = 30 * DAY // SECOND
LONGEST = HOUR  # from now until an assertion ends: the default of client libraries
LEEWAY_S = 60
MAX_KEY, MAX_ASSERTION, MAX_ID = 10_000, 20_000, 500  # characters
LEAST_RSA_BITS = 2_048
_ALGORITHMS: Mapping[str, tuple[str, ...]] = {"RSA": ("RS256",), "EC": ("ES256",), "OKP": ("EdDSA", "Ed25519")}
_PUBLIC = ("kty", "n", "e", "crv", "x", "y")


@dataclass(frozen=True, slots=True)
class OAuthClient:
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

    @property
    def is_built_in(self) -> bool:
        """Whether it is the dashboard's or the example product's, which are never stored."""
        return self.origin == "dashboard"

    def old_secret_works(self, now: int) -> bool:
        """Whether the secret before this one still works at ``now``."""
        return self.old_secret_ends_at is not None and now < self.old_secret_ends_at

    def secrets(self, now: int) -> list[str]:
        """The hashes of its secrets that work at ``now``."""
        hashes = [self.secret_hash, self.old_secret_hash] if self.old_secret_works(now) else [self.secret_hash]
        return [secret_hash for secret_hash in hashes if secret_hash]

    def credentials(self, now: int) -> list[str]:
        """The hashes of the credentials that the client may authenticate with at ``now``."""
        return [*self.secrets(now), hash_token(self.public_key)] if self.public_key else self.secrets(now)


_CLIENTS = Table("oauth_clients", OAuthClient)


def create(
    service: Service,
    *,
    name: str,
    scope: str = token_scopes.ALL,
    project_id: str | None = None,
    origin: Origin = "cli",
    public_key: str = "",
) -> tuple[OAuthClient, str]:
    """Make a client; the second value is its secret, which is shown this once. With a ``public_key`` it has none, "".

    Raises :class:`webapp.service.domain.base.token_scopes.UnknownScope`.
    """
    secret, now = "" if public_key else random_base62(43), service.clock()
    token_scopes.parse(scope)
    client = OAuthClient(random_base62(24), project_id, name, scope, hash_token(secret), origin, now, now)
    if public_key:
        client = replace(client, secret_hash="", public_key=public_key)
    with service.store.write() as tx:
        insert(tx, client)
    return client, secret


def insert(tx: Tx, client: OAuthClient) -> None:
    """Keep a new client."""
    _CLIENTS.insert(tx, client)
    note(tx, client.created_at, client, "created", f"was made, with the scope {client.scope}")


def change(tx: Tx, client_id: str, **columns: Any) -> None:
    """Write ``columns`` of a client."""
    _CLIENTS.update(tx, client_id, **columns)


def remove(tx: Tx, client_id: str) -> None:
    """Forget a client."""
    _CLIENTS.delete(tx, client_id)


def note(tx: Tx, at: int, client: OAuthClient, verb: str, what: str) -> None:
    """Record what was done to ``client`` in the audit log."""
    sentence = f"The OAuth client {client.name} {what}."
    audit.write(tx, at, "client", client.id, verb, sentence, project=client.project_id)


def dashboard(service: Service) -> tuple[str, str]:
    """The id and secret of the embedded dashboard's own client; both derived from the instance key, never stored."""
    return DASHBOARD_ID, service.keys.derive("dashboard-client").hex()


def get(reader: Reader, client_id: str) -> OAuthClient:
    """The client under ``client_id``. Raises :class:`NotFound`."""
    client = _CLIENTS.get(reader, client_id)
    if client is None:
        raise NotFound(f"There is no OAuth client {client_id}.")
    return client


def page(reader: Reader, window: cursors.Window) -> cursors.Page[OAuthClient]:
    """Clients, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return _CLIENTS.page(reader, window, "1 = 1")


def every(reader: Reader) -> list[OAuthClient]:
    """All clients, oldest first."""
    return _CLIENTS.all(reader, "1 = 1 ORDER BY created_at, id")


def is_any_used(reader: Reader, *, without: str | None, project_id: str | None = None) -> bool:
    """Whether any stored client but ``without`` has called; with ``project_id``, one that was made for that project."""
    where, params = "last_used_at IS NOT NULL AND id <> :without", {"without": without or ""}
    if project_id is not None:
        where, params["project"] = f"{where} AND project_id = :project", project_id
    return _CLIENTS.one(reader, f"{where} LIMIT 1", params) is not None


def _of_scripts(reader: Reader) -> list[OAuthClient]:
    """Those made for scripts, oldest first."""
    return _CLIENTS.all(reader, "origin = 'init' ORDER BY created_at, id")


def _past_overlap(reader: Reader, now: int) -> list[OAuthClient]:
    """The clients whose previous secret has ended by ``now`` but is still stored."""
    return _CLIENTS.all(reader, "old_secret_ends_at <= :now", {"now": now})


def example(service: Service) -> tuple[str, str]:
    """The id and secret of the example product's client, which is never stored either and there with the sandbox."""
    return EXAMPLE_ID, service.keys.derive("example-client").hex()


def find(service: Service, client_id: str, *, unless: str = "FALSE", **params: str) -> OAuthClient | None:
    """The client under ``client_id``, or None; also for one that is stored while the condition ``unless`` holds."""
    stored = f"id = :id AND NOT ({unless})"
    return _built_in(service, client_id) or _CLIENTS.one(service.store, stored, {"id": client_id, **params})


def _built_in(service: Service, client_id: str) -> OAuthClient | None:
    own_id, own_secret = dashboard(service)
    if client_id == own_id:
        return OAuthClient(own_id, None, "Dashboard", token_scopes.ALL, hash_token(own_secret), "dashboard", 0, 0)
    return _example(service) if client_id == EXAMPLE_ID else None


def _example(service: Service) -> OAuthClient | None:
    """The client of the example product: it has access only to the dashboard's project, with the scopes of its page."""
    project_id = projects.default_id(service, service.store)
    if not service.settings.sandbox or not project_id:
        return None
    scope = " ".join((token_scopes.TOKENS_CREATE, token_scopes.ACCOUNTS_READ, token_scopes.PROJECTS_READ))
    return OAuthClient(
        EXAMPLE_ID, project_id, "Example product", scope, hash_token(example(service)[1]), "dashboard", 0, 0
    )


def authenticate(service: Service, client_id: str, client_secret: str) -> OAuthClient | None:
    """The client whose id and secret these are, or None. An unknown id takes the same path as a wrong secret."""
    client, shown = find(service, client_id), hash_token(client_secret)
    known = client.secrets(service.clock()) if client else [hash_token("")]
    right = [same(credential, shown) for credential in known]
    return client if any(right) else None


WRITTEN_EVERY = MINUTE  # the last call of a client is shown to the minute


def _write_uses(service: Service, uses: Mapping[str, int]) -> None:
    with service.store.write() as tx:
        for client_id, at in uses.items():
            _CLIENTS.update(tx, client_id, last_used_at=at)


_USES = WriteBuffer(_write_uses)
flush_uses = _USES.flush


def note_use(service: Service, client: OAuthClient) -> None:
    """Keep that ``client`` called; no call waits until that is written."""
    now = service.clock()
    if not client.is_built_in and now - (client.last_used_at or 0) >= WRITTEN_EVERY:
        _USES.note(service, client.id, now)


def scripted(service: Service) -> tuple[OAuthClient, str]:
    """The client that scripts use, and its secret: made by the first call, the same afterwards."""
    client = next(iter(_of_scripts(service.store)), None)
    if client is not None:
        return client, _derived_secret(service.keys, client.id, client.created_at, client.rotated_at)
    now, client_id = service.clock(), random_base62(24)
    secret = _derived_secret(service.keys, client_id, now, now)
    client = OAuthClient(client_id, None, "Scripts", token_scopes.ALL, hash_token(secret), "init", now, now)
    with service.store.write() as tx:
        insert(tx, client)
    return client, secret


def rotate(service: Service, client_id: str, overlap_s: int = 0) -> tuple[OAuthClient, str]:
    """Give a client a new secret. The one before and its tokens work ``overlap_s`` seconds longer; earlier ones end.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        client = get(tx, client_id)
        now = max(service.clock(), client.rotated_at + 1)
        scripted = client.origin == "init"
        secret = _derived_secret(service.keys, client.id, client.created_at, now) if scripted else random_base62(43)
        rotated = replace(client, secret_hash=hash_token(secret), rotated_at=now)
        rotated = _with_old_secret(rotated, client.secret_hash, overlap_s)
        _write(tx, rotated)
        until = _until(rotated.old_secret_ends_at)
        note(tx, now, client, "rotated", f"has a new secret; the old one and its tokens {until}")
    return rotated, secret


def end_old_secret(service: Service, client_id: str) -> None:
    """End the secret before the present one, and its tokens, if it still works.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        client, now = get(tx, client_id), service.clock()
        if client.old_secret_works(now):
            _write(tx, _with_old_secret(client, "", 0))
            note(tx, now, client, "old_secret_ended", "has one secret again; the old one and its tokens ended")


def forget_old_secrets(service: Service) -> int:
    """Forget the secrets whose overlap is over, so that a clock set back revives none; how many there were."""
    if not _past_overlap(service.store, service.clock()):
        return 0
    with service.store.write() as tx:
        ended = _past_overlap(tx, service.clock())
        for client in ended:
            _write(tx, _with_old_secret(client, "", 0))
    return len(ended)


def delete(service: Service, client_id: str) -> None:
    """Remove a client. Its access tokens and the Connect tokens that it asked for end at once.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        client = get(tx, client_id)
        connect_tokens.revoke_all(tx, client_id=client.id)
        remove(tx, client.id)
        note(tx, service.clock(), client, "deleted", "was deleted; its tokens ended")


def derive_again(tx: Tx, keys: Keyring) -> None:
    """Give the clients of scripts the secrets that follow from another instance key."""
    for client in _of_scripts(tx):
        secret = _derived_secret(keys, client.id, client.created_at, client.rotated_at)
        change(tx, client.id, secret_hash=hash_token(secret))


def _derived_secret(keys: Keyring, client_id: str, created_at: int, rotated_at: int) -> str:
    purpose = f"scripted-client|{client_id}|{created_at}|{rotated_at}"
    return base64.urlsafe_b64encode(keys.derive(purpose)).rstrip(b"=").decode()


def _with_old_secret(client: OAuthClient, secret_hash: str, overlap_s: int) -> OAuthClient:
    """The client with the secret before this one, for ``overlap_s`` seconds from its rotation; without, for none."""
    overlaps = bool(overlap_s and secret_hash)
    ends_at = client.rotated_at + overlap_s * SECOND if overlaps else None
    return replace(client, old_secret_hash=secret_hash if overlaps else "", old_secret_ends_at=ends_at)


def _write(tx: Tx, client: OAuthClient) -> None:
    change(
        tx,
        client.id,
        secret_hash=client.secret_hash,
        rotated_at=client.rotated_at,
        old_secret_hash=client.old_secret_hash,
        old_secret_ends_at=client.old_secret_ends_at,
    )


def _until(ends_at: int | None) -> str:
    """Until when the old secret works, in words for the audit."""
    if ends_at is None:
        return "ended"
    return f"end on {datetime.fromtimestamp(ends_at / SECOND, UTC):%Y-%m-%d at %H:%M} UTC"


class BadAssertion(Exception):
    """An invalid assertion; the message says why."""


def read_key(text: str) -> str:
    """The public key in ``text``, a JWK or PEM, as a JWK without anything else. Raises :class:`Invalid`."""
    try:
        key = _imported(text)
    except Exception as error:  # the library lets errors of others through
        raise _invalid("This is no public key; paste it as PEM or as one JWK.") from error
    if key.is_private:
        raise _invalid("This is a private key. Keep it on your server, and paste the public one.")
    _check(key)
    jwk = key.as_dict(private=False)
    return orjson.dumps({name: jwk[name] for name in _PUBLIC if name in jwk}).decode()


def thumbprint(client: OAuthClient) -> str | None:
    """The thumbprint of the client's public key (RFC 7638); None without one."""
    from joserfc import jwk

    return jwk.import_key(orjson.loads(client.public_key)).thumbprint() if client.public_key else None


def set_key(service: Service, client_id: str, public_key: str) -> OAuthClient:
    """Give a client the ``public_key`` of :func:`read_key`; the tokens of any other key end at once.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        client = replace(get(tx, client_id), public_key=public_key)
        change(tx, client_id, public_key=public_key)
        note(tx, service.clock(), client, "key_set", "may prove itself with a key of its own")
    return client


def remove_key(service: Service, client_id: str) -> None:
    """Take a client's key away, and end the tokens of that. Raises :class:`webapp.errors.NotFound`, and
    :class:`Conflict` where no secret would be left."""
    with service.store.write() as tx:
        client = get(tx, client_id)
        if not client.public_key:
            return
        if not client.secret_hash:
            raise Conflict("It has no secret; give it one before its key is removed, or delete it.")
        change(tx, client_id, public_key="")
        note(tx, service.clock(), client, "key_removed", "has no key any more; the tokens of that ended")


def claimed_client(assertion: str) -> str:
    """The client that ``assertion`` names, unverified; "" if it cannot be read."""
    from joserfc import jws

    try:
        claims = orjson.loads(jws.extract_compact(assertion.encode()).payload)
        return str(claims["sub"]) if isinstance(claims["sub"], str) else ""
    except Exception:  # whatever is wrong with it
        return ""


def authenticate_by_key(service: Service, assertion: str, audiences: Collection[str]) -> OAuthClient:
    """The client that signed ``assertion`` for one of ``audiences``, which is then used up. Raises
    :class:`BadAssertion`."""
    if len(assertion) > MAX_ASSERTION:
        raise BadAssertion("The assertion is too long.")
    client = find(service, claimed_client(assertion))
    if client is None or not client.public_key:
        raise BadAssertion("No client with a public key is named as sub in the assertion.")
    claims, now = _verified(assertion, client.public_key, service.clock()), service.clock()
    if claims.get("iss") != client.id or claims.get("sub") != client.id:
        raise BadAssertion("iss and sub must both be the client's id.")
    audience = claims.get("aud")
    if all(name not in audiences for name in (audience if isinstance(audience, list) else [audience])):
        raise BadAssertion(f"aud must be {next(iter(audiences))}.")
    if not claims["exp"] * SECOND <= now + LONGEST + LEEWAY_S * SECOND:  # so that what is no number is refused, too
        raise BadAssertion("exp must lie at most an hour ahead.")
    _use_up(service, client, claims, now)
    return client


def _use_up(service: Service, client: OAuthClient, claims: Mapping[str, Any], now: int) -> None:
    name = claims.get("jti")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_ID:
        raise BadAssertion("jti is missing; give each assertion an id of its own.")
    lifetime = int(claims["exp"] * SECOND) - now + 2 * LEEWAY_S * SECOND
    with service.store.write() as tx:
        fresh = challenges.spend(tx, now, f"{client.id}|{name}".encode("utf-8", "surrogatepass"), lifetime)
    if not fresh:
        raise BadAssertion("This assertion was used before; sign a new one with another jti.")


def _verified(assertion: str, public_key: str, now: int) -> Mapping[str, Any]:
    """The claims, once signature and times are right."""
    from joserfc import jwk, jwt
    from joserfc.errors import JoseError, SecurityWarning

    key = jwk.import_key(orjson.loads(public_key))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)  # the older name of Ed25519 is what clients send
            claims = jwt.decode(assertion, key, algorithms=list(_ALGORITHMS[key.key_type])).claims
        times = jwt.JWTClaimsRegistry(now=now // SECOND, leeway=LEEWAY_S, exp={"essential": True})
        times.validate(claims)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise BadAssertion("The assertion is expired, or not signed with the client's key.") from error
    return claims


def _imported(text: str) -> "Key":
    from joserfc import jwk
    from joserfc.errors import InvalidKeyTypeError

    if len(text) > MAX_KEY:
        raise ValueError("too long")
    if text.lstrip().startswith("{"):
        return jwk.import_key(orjson.loads(text))
    pem = text.strip().encode()
    for kind in (jwk.RSAKey, jwk.ECKey, jwk.OKPKey):
        with suppress(InvalidKeyTypeError):
            return kind.import_key(pem)
    raise ValueError("of another kind")


def _check(key: "Key") -> None:
    """Raise :class:`Invalid` for a key of another kind, or too short a one."""
    if key.key_type == "RSA":
        if key.get_op_key("verify").key_size < LEAST_RSA_BITS:  # type: ignore[union-attr]  # an RSA key has a size
            raise _invalid(f"An RSA key needs {LEAST_RSA_BITS:,} bits or more.")
    elif (key.key_type, key.as_dict(private=False).get("crv")) not in (("EC", "P-256"), ("OKP", "Ed25519")):
        raise _invalid("Use an RSA, P-256 or Ed25519 key.")


def _invalid(sentence: str) -> Invalid:
    return Invalid.of("public_key", sentence)
