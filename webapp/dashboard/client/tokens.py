"""The dashboard's tokens: one OAuth access token, and a Connect token for each signed-in person. Kept in memory only.

Both are renewed before they end: the access token 120 seconds early (contract "Access tokens"), a Connect token five
minutes early. Neither ever reaches a browser; the tokens of Connect Links are made elsewhere and are not kept.
"""

import threading
from collections.abc import Callable

from webapp.dashboard.client.memory import Memory
from webapp.dashboard.client.transport import NotTheApi, ServiceDown, Transport
from webapp.errors import Unauthorized
from webapp.kit.clock import MINUTE, SECOND, Clock, parse_iso

EARLY = 120 * SECOND
USER_EARLY = 5 * MINUTE
USER_TOKENS = 10_000


class AccessToken:
    """The OAuth access token of a client, fetched when needed and shared by all threads (section 4.1)."""

    def __init__(self, transport: Transport, clock: Clock, client_id: str, client_secret: str) -> None:
        self._transport, self._clock = transport, clock
        self._client_id, self._client_secret = client_id, client_secret
        self._lock = threading.Lock()
        self._token, self._renew_at = "", 0

    def get(self) -> str:
        """A token with at least two minutes left. Raises :class:`ServiceDown`, also for a refused client."""
        with self._lock:
            if self._clock() >= self._renew_at:
                self._fetch()
            return self._token

    def drop(self, token: str) -> None:
        """Forget ``token``, which the service refused; a newer one stays."""
        with self._lock:
            if self._token == token:
                self._renew_at = 0

    def _fetch(self) -> None:
        body = {
            "grant_type": "client_credentials",
            "client_id": self._client_id,
            "client_secret": self._client_secret,
        }
        try:
            answer = self._transport.call("POST", "/v1/oauth/token", body=body)
            self._token = str(answer["access_token"])
            lifetime = int(answer.get("expires_in", 3600)) * SECOND
        except Unauthorized as error:
            raise ServiceDown(
                "The Connect service refused the dashboard’s own client; check its id and secret."
            ) from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise NotTheApi from error
        self._renew_at = self._clock() + max(lifetime - EARLY, lifetime // 2)


class UserTokens:
    """A Connect token per external user, made by ``create`` and kept until shortly before its end."""

    def __init__(self, clock: Clock, create: Callable[[str], tuple[str, str]]) -> None:
        """``create`` makes a token for an external user and returns it with its ISO 8601 end."""
        self._clock, self._create = clock, create
        self._tokens: Memory[str] = Memory(clock, lifetime=0, size=USER_TOKENS)

    def get(self, user: str) -> str:
        """A token of ``user``. Two threads may both make one; both tokens work."""
        return self._tokens.get(user) or self._new(user)

    def drop(self, user: str) -> None:
        """Forget the token of ``user``."""
        self._tokens.drop(user)

    def _new(self, user: str) -> str:
        token, expires_at = self._create(user)
        try:
            lifetime = parse_iso(expires_at) - self._clock()
        except ValueError as error:
            raise NotTheApi from error
        return self._tokens.put(user, token, max(lifetime - USER_EARLY, lifetime // 2))
