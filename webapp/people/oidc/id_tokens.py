"""ID tokens: what a provider signed about who has just signed in (OpenID Connect Core section 3.1.3.7).

The library ``joserfc`` is imported when it is used.
"""

from collections.abc import Collection, Mapping
from typing import Any

from webapp.kit.clock import SECOND
from webapp.kit.crypto import same

# Signatures by a provider's own key; never "none", and never a secret that both sides know.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}  # of keys, by the first letters of the algorithm
LEEWAY_S = 60
LONGEST_SUBJECT = 255  # section 2


class BadToken(ValueError):
    """An ID token that proves nothing; the message is for the log."""


class UnknownKey(BadToken):
    """One that was signed by a key that is not in the set, which may be newer than the set."""


def verify(
    token: str,
    keys: Mapping[str, Any],
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    supported: Collection[str],
    now: int,
) -> dict[str, Any]:
    """The claims of ``token``, signed by one of ``keys`` (RFC 7517). ``now`` is in epoch milliseconds.

    Raises :class:`BadToken`.
    """
    from joserfc import jwt
    from joserfc.errors import JoseError

    algorithms = [name for name in ALGORITHMS if name in supported]
    try:
        claims = jwt.decode(token, _key(token, keys), algorithms=algorithms).claims
        registry = jwt.JWTClaimsRegistry(
            now=now // SECOND,
            leeway=LEEWAY_S,
            iss={"essential": True, "value": issuer},
            sub={"essential": True},
            aud={"essential": True, "value": client_id},
            exp={"essential": True},
            iat={"essential": True},
        )
        registry.validate(claims)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, BadToken):
            raise
        raise BadToken(f"{type(error).__name__}: {error}") from error
    audience, party = claims["aud"], claims.get("azp")
    if (party is not None or (isinstance(audience, list) and len(audience) > 1)) and party != client_id:
        raise BadToken("it was issued to another client")
    if not isinstance(claims.get("nonce"), str) or not same(claims["nonce"], nonce):
        raise BadToken("its nonce is not the one that was sent")
    if not 0 < len(claims["sub"]) <= LONGEST_SUBJECT:
        raise BadToken("its subject is empty or too long")
    return dict(claims)


def _key(token: str, keys: Mapping[str, Any]) -> Any:
    """The key that the token names, or the only one that there is."""
    from joserfc import jwk, jws

    header = jws.extract_compact(token.encode("utf-8", "surrogatepass")).headers()
    named = [key for key in keys.get("keys") or () if _may_sign(key, str(header.get("alg")))]
    fitting = [key for key in named if "kid" not in header or key.get("kid", header["kid"]) == header["kid"]]
    if len(fitting) != 1:
        raise UnknownKey(f"{len(fitting)} keys of the provider fit it")
    # Some providers publish what the private key is for.
    return jwk.import_key({name: value for name, value in fitting[0].items() if name != "key_ops"})


def _may_sign(key: Any, algorithm: str) -> bool:
    if not isinstance(key, dict) or key.get("use", "sig") != "sig":
        return False
    return key.get("kty") == _TYPES.get(algorithm[:2]) and key.get("alg", algorithm) == algorithm
