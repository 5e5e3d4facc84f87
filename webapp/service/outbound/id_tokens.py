"""Verifies ID tokens (OpenID Connect Core 1.0) with the keys that their provider publishes (RFC 7517).

People sign in with them (:mod:`webapp.people.openid_provider`), and Google's Pub/Sub sends them when it pushes:
https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions. ``joserfc`` is imported when it is used.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from webapp.errors import Unavailable
from webapp.kit.clock import HOUR, MINUTE, SECOND, Clock
from webapp.service.outbound.bodies import Json
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.responses import Response

KEPT, APART, RETRY_MS = HOUR, MINUTE, 10 * SECOND
MAX_TOKEN, MAX_ANSWER = 8_000, 512 * 1024
DEADLINE_S = 10.0
LEEWAY_S = 60  # by which the provider's clock may differ from ours
_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}  # the key type, by the first letters of the algorithm
Verified = TypeVar("Verified")


class Unreachable(Exception):
    """The provider did not answer, or not as OpenID Connect requires; the message is for the log."""


class BadIdToken(ValueError):
    """The ID token is not valid; the message is for the log."""


class UnknownKey(BadIdToken):
    """The ID token is signed by a key that is not in the key set, which may be out of date."""


class Keys(Protocol):
    """Gives a provider's key set; ``newer`` fetches it again unless that was just done. Raises :class:`Unreachable`."""

    def __call__(self, *, newer: bool = False) -> Mapping[str, Any]: ...


@dataclass
class PublishedObject:
    """A JSON object that a provider publishes, kept for an hour. Safe to share between threads.

    After a failure the provider is not asked again for a few seconds, so that requests do not queue behind its timeout.
    ``apart`` is the time in milliseconds between two fetches for something newer.
    """

    apart: int = APART
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _kept: Mapping[str, Any] | None = None
    _kept_at: int = 0
    _failure: str | None = None
    _failed_at: int = 0

    def current(
        self, fetch: Callable[[], Mapping[str, Any]], clock: Clock, *, newer: bool = False
    ) -> Mapping[str, Any]:
        """The object, from ``fetch`` if need be; ``newer`` fetches it again unless that was just done.

        Raises :class:`Unreachable`, as ``fetch`` does.
        """
        with self._lock:
            now = clock()  # whoever waited for the lock sees how the fetch before it ended
            age = now - self._kept_at
            if self._kept is not None and 0 <= age < KEPT and not (newer and age >= self.apart):
                return self._kept
            if self._failure is not None and 0 <= now - self._failed_at < RETRY_MS:
                raise Unreachable(self._failure)
            try:
                kept = fetch()
            except Unreachable as error:
                self._failure, self._failed_at = str(error), clock()
                raise
            self._kept, self._kept_at, self._failure = kept, clock(), None
            return kept


KEYS: dict[str, PublishedObject] = {}  # of the providers that push, by their URLs


def verified_claims(
    outbound: OutboundClient, token: str, *, issuer: str, keys: str, audience: str, clock: Clock
) -> Mapping[str, Any] | None:
    """The claims of ``token``, once a key at the URL ``keys`` has signed it by RS256 for ``audience`` and it is valid
    now; otherwise None. Raises :class:`Unavailable` if the keys cannot be fetched."""
    from joserfc.jwt import JWTClaimsRegistry

    def published(*, newer: bool = False) -> Mapping[str, Any]:
        known = KEYS.setdefault(keys, PublishedObject())
        return known.current(lambda: fetched_json(outbound, keys), clock, newer=newer)

    def validated(claims: dict[str, Any], _header: Mapping[str, Any]) -> Mapping[str, Any]:
        JWTClaimsRegistry(
            now=clock() // SECOND,
            leeway=LEEWAY_S,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
        ).validate(claims)
        return claims

    if len(token) > MAX_TOKEN:
        return None
    try:
        return verified(token, published, ("RS256",), validated)
    except BadIdToken:
        return None
    except Unreachable as error:
        raise Unavailable("The provider's keys could not be fetched. Send this again.") from error


def verified(
    token: str,
    keys: Keys,
    algorithms: Collection[str],
    validated: Callable[[dict[str, Any], dict[str, Any]], Verified],
) -> Verified:
    """What ``validated`` returns for the claims and header of ``token``, once one of ``keys`` has signed it by one of
    ``algorithms``. Newer keys are asked for where its key is unknown, and none for what is no such token.

    Raises :class:`BadIdToken`, also where ``validated`` raises an error of joserfc or a ValueError, TypeError or
    KeyError; and :class:`Unreachable`.
    """
    from joserfc import jwt
    from joserfc.errors import InvalidKeyIdError, JoseError, MissingKeyError

    def attempt(*, newer: bool) -> Verified:
        try:
            signed = jwt.decode(
                token,
                lambda sent: _signing_keys(keys(newer=newer), str(sent.headers().get("alg"))),
                algorithms=algorithms,
            )
            return validated(signed.claims, signed.header)
        except (InvalidKeyIdError, MissingKeyError) as error:
            raise UnknownKey(f"{type(error).__name__}: {error}") from error
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise BadIdToken(f"{type(error).__name__}: {error}") from error

    try:
        return attempt(newer=False)
    except UnknownKey:  # the provider may have begun to sign with another key
        return attempt(newer=True)


def _signing_keys(keys: Mapping[str, Any], algorithm: str) -> Any:
    """The ``keys`` that may sign with ``algorithm``, without ``key_ops``: some providers publish the private key's."""
    from joserfc.jwk import KeySet

    fitting = [key for key in keys.get("keys") or () if _may_sign(key, algorithm)]
    public = [{name: value for name, value in key.items() if name != "key_ops"} for key in fitting]
    return KeySet.import_key_set({"keys": public})


def _may_sign(key: Any, algorithm: str) -> bool:
    if not isinstance(key, dict) or key.get("use", "sig") != "sig":
        return False
    return key.get("kty") == _TYPES.get(algorithm[:2]) and key.get("alg", algorithm) == algorithm


def fetched_json(outbound: OutboundClient, url: str, **headers: str) -> Mapping[str, Any]:
    """The JSON object that a provider has at ``url``. Raises :class:`Unreachable`."""
    answer = outbound.request(
        "GET", url, headers={"Accept": "application/json", **headers}, deadline_s=DEADLINE_S, max_bytes=MAX_ANSWER
    )
    if not isinstance(answer, Response):
        raise Unreachable(answer.sentence)
    parsed = answer.json() if answer.ok else None
    if not isinstance(parsed, Json) or not isinstance(parsed.value, dict):
        raise Unreachable(f"{urlsplit(url).netloc} answered with status {answer.status} and not with a JSON object")
    return parsed.value
