"""Public keys of OAuth clients, and what clients sign with the private ones (RFC 7523, RFC 7521 section 4.2).

A client may have one public key, instead of a secret or beside it: RSA of 2,048 bits or more (RS256), P-256 (ES256) or
Ed25519 (EdDSA). At the token endpoint it then shows an assertion, signed a moment ago, which counts once in all
processes. The library ``joserfc`` is imported when it is used.
"""

import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from webapp.errors import Conflict, Invalid
from webapp.kit.clock import HOUR, SECOND
from webapp.people import challenges
from webapp.service.domain.access import clients
from webapp.service.domain.access.clients import Client
from webapp.service.domain.base.service import Service

if TYPE_CHECKING:
    from joserfc.jwk import Key

LONGEST = HOUR  # from now until an assertion ends: what client libraries ask for unless they are told otherwise
LEEWAY_S = 60
MAX_KEY, MAX_ASSERTION, MAX_ID = 10_000, 20_000, 500  # characters
LEAST_RSA_BITS = 2_048
_ALGORITHMS: Mapping[str, tuple[str, ...]] = {"RSA": ("RS256",), "EC": ("ES256",), "OKP": ("EdDSA", "Ed25519")}
_PUBLIC = ("kty", "n", "e", "crv", "x", "y")


class BadAssertion(Exception):
    """An assertion that proves nothing; the message says why."""


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


def thumbprint(client: Client) -> str | None:
    """What names the client's key (RFC 7638); None without one."""
    from joserfc import jwk

    return jwk.import_key(orjson.loads(client.public_key)).thumbprint() if client.public_key else None


def set_key(service: Service, client_id: str, public_key: str) -> Client:
    """Give a client the ``public_key`` of :func:`read_key`; the tokens of any other key end at once.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        client = replace(clients.get(tx, client_id), public_key=public_key)
        clients.change(tx, client_id, public_key=public_key)
        clients.note(tx, service.clock(), client, "key_set", "may prove itself with a key of its own")
    return client


def remove_key(service: Service, client_id: str) -> None:
    """Take a client's key away, and end the tokens of that. Raises :class:`webapp.errors.NotFound`, and
    :class:`Conflict` where no secret would be left."""
    with service.store.write() as tx:
        client = clients.get(tx, client_id)
        if not client.public_key:
            return
        if not client.secret_hash:
            raise Conflict("It has no secret; give it one before its key is removed, or delete it.")
        clients.change(tx, client_id, public_key="")
        clients.note(tx, service.clock(), client, "key_removed", "has no key any more; the tokens of that ended")


def claimed_client(assertion: str) -> str:
    """The client that ``assertion`` says it is of, before anything is proved; "" where that cannot be read."""
    from joserfc import jws

    try:
        claims = orjson.loads(jws.extract_compact(assertion.encode()).payload)
        return str(claims["sub"]) if isinstance(claims["sub"], str) else ""
    except Exception:  # whatever is wrong with it
        return ""


def authenticate(service: Service, assertion: str, audiences: Collection[str]) -> Client:
    """The client that signed ``assertion`` for one of ``audiences``, which is then used up. Raises
    :class:`BadAssertion`."""
    if len(assertion) > MAX_ASSERTION:
        raise BadAssertion("The assertion is too long.")
    client = clients.find(service, claimed_client(assertion))
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


def _use_up(service: Service, client: Client, claims: Mapping[str, Any], now: int) -> None:
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
