"""Verifies ID tokens (OpenID Connect Core 1.0) by which a provider's own service says who it is.

Google's Pub/Sub sends them when it pushes: https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions.

The provider's keys (RFC 7517) are kept in memory for an hour, and fetched again at most once a minute for a key that is
not among them. ``joserfc`` is imported when it is used.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp.errors import Unavailable
from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.service.outbound.bodies import Json
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.responses import Response

KEPT, APART = HOUR, MINUTE
MAX_TOKEN, MAX_KEYS = 8_000, 256 * 1024
DEADLINE_S = 10.0
LEEWAY_S = 60  # by which the provider's clock may differ from ours


@dataclass
class PublishedKeys:
    """The keys that providers publish, by their URLs."""

    _known: dict[str, tuple[int, Mapping[str, Any]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def at(self, outbound: OutboundClient, url: str, now: int, *, newer: bool = False) -> Mapping[str, Any]:
        """The key set at ``url``; ``newer`` fetches it again unless that was just done. Raises :class:`Unavailable`."""
        with self._lock:
            fetched_at, keys = self._known.get(url, (0, None))
            age = now - fetched_at
            if keys is None or not 0 <= age < KEPT or (newer and age >= APART):
                keys = _fetched(outbound, url)
                self._known[url] = now, keys
            return keys


KEYS = PublishedKeys()


def verified_claims(
    outbound: OutboundClient, token: str, *, issuer: str, keys: str, audience: str, now: int
) -> Mapping[str, Any] | None:
    """The claims of ``token``, once a key at the URL ``keys`` has signed it by RS256 for ``audience`` and it is valid
    ``now`` (epoch milliseconds); otherwise None. Raises :class:`Unavailable` if the keys cannot be fetched."""
    from joserfc import jwt
    from joserfc.errors import InvalidKeyIdError, JoseError, MissingKeyError
    from joserfc.jwk import KeySet

    if len(token) > MAX_TOKEN:
        return None
    registry = jwt.JWTClaimsRegistry(
        now=now // SECOND,
        leeway=LEEWAY_S,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": audience},
        exp={"essential": True},
    )
    for newer in (False, True):
        published = KEYS.at(outbound, keys, now, newer=newer)
        try:
            claims = jwt.decode(token, KeySet.import_key_set(_signing(published)), algorithms=["RS256"]).claims
            registry.validate(claims)
        except (InvalidKeyIdError, MissingKeyError):
            continue  # the provider may have begun to sign with another key
        except (JoseError, ValueError, TypeError, KeyError):
            return None
        return claims
    return None


def _signing(published: Mapping[str, Any]) -> Any:
    keys = [key for key in published.get("keys") or () if isinstance(key, dict)]
    return {"keys": [key for key in keys if key.get("kty") == "RSA" and key.get("use", "sig") == "sig"]}


def _fetched(outbound: OutboundClient, url: str) -> Mapping[str, Any]:
    answer = outbound.request("GET", url, deadline_s=DEADLINE_S, max_bytes=MAX_KEYS)
    parsed = answer.json() if isinstance(answer, Response) and answer.ok else None
    if not isinstance(parsed, Json) or not isinstance(parsed.value, dict):
        raise Unavailable("The provider's keys could not be fetched. Send this again.")
    return parsed.value
