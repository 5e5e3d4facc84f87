"""What an OpenID provider says of itself (OpenID Connect Discovery 1.0 section 4), and the keys that it signs with.

Both are kept for an hour, and asked for through the outbound guard. A provider that has just failed to say what it is
is left alone for a while, so that people who come meanwhile do not wait for it one after the other. What a provider
says is checked before it is used: its name is the one that was configured, and its addresses are no less safe.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from webapp.kit.clock import HOUR, SECOND, Clock
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.outcomes import Json, Response

KEPT = HOUR
KEYS_AT_MOST_EVERY = REST = 10 * SECOND
DEADLINE_S = 10.0
MAX_ANSWER = 512 * 1024
_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class Unreachable(Exception):
    """The provider did not answer as one; the message is for the log."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """The provider's facts."""

    facts: Mapping[str, Any]

    def url(self, name: str) -> str | None:
        """The endpoint ``name``, if there is one."""
        value = self.facts.get(name)
        return value if isinstance(value, str) else None

    def names(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """The list ``name``; ``default`` where it is left out."""
        value = self.facts.get(name, default)
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else default


@dataclass
class Source:
    """Reads a provider's metadata and keys. Threads may share one."""

    outbound: OutboundClient
    clock: Clock
    issuer: str
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _metadata: Metadata | None = None
    _read_at: int = 0
    _failure: str = ""
    _failed_at: int = 0
    _keys: Mapping[str, Any] | None = None
    _keys_at: int = 0

    def metadata(self) -> Metadata:
        """The provider's facts. Raises :class:`Unreachable`."""
        with self._lock:
            now = self.clock()
            if self._metadata is None or not 0 <= now - self._read_at < KEPT:
                if self._failure and 0 <= now - self._failed_at < REST:
                    raise Unreachable(self._failure)
                try:
                    self._metadata, self._read_at = self._read(), now
                except Unreachable as error:
                    self._failure, self._failed_at = str(error), self.clock()
                    raise
            return self._metadata

    def keys(self, *, newer: bool = False) -> Mapping[str, Any]:
        """The keys. ``newer`` asks for them again, unless that was done just now. Raises :class:`Unreachable`."""
        url = self.metadata().url("jwks_uri") or ""
        with self._lock:
            age = self.clock() - self._keys_at
            if self._keys is None or not 0 <= age < KEPT or (newer and age >= KEYS_AT_MOST_EVERY):
                self._keys, self._keys_at = get_json(self.outbound, url), self.clock()
            return self._keys

    def _read(self) -> Metadata:
        facts = get_json(self.outbound, self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        self._check(facts)
        return Metadata(facts)

    def _check(self, facts: Mapping[str, Any]) -> None:
        if facts.get("issuer") != self.issuer:
            raise Unreachable(f"it calls itself {facts.get('issuer')!r}")
        for name in (*_NEEDED, "userinfo_endpoint", "end_session_endpoint"):
            url = facts.get(name)
            if url is None and name not in _NEEDED:
                continue
            safe = ("https",) if self.issuer.startswith("https:") else ("https", "http")
            if not isinstance(url, str) or urlsplit(url).scheme not in safe:
                raise Unreachable(f"its {name} is no safe address")


def get_json(outbound: OutboundClient, url: str, **headers: str) -> Mapping[str, Any]:
    """The JSON object at ``url``. Raises :class:`Unreachable`."""
    answer = outbound.request(
        "GET", url, headers={"Accept": "application/json", **headers}, deadline_s=DEADLINE_S, max_bytes=MAX_ANSWER
    )
    if not isinstance(answer, Response):
        raise Unreachable(answer.sentence)
    parsed = answer.json() if answer.ok else None
    if not isinstance(parsed, Json) or not isinstance(parsed.value, dict):
        raise Unreachable(f"{urlsplit(url).netloc} answered with status {answer.status} and not with a JSON object")
    return parsed.value
