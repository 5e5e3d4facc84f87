"""The dashboard's tokens: one OAuth access token, and a Connect token for each signed-in person. Memory only.

Both are renewed before they end: the access token 120 seconds early (WIRE "Token response"), a Connect token five
minutes early. Neither ever reaches a browser; the tokens of Connect Links are made elsewhere and are not kept.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable

from webapp.dashboard.client.transport import ServiceDown, Transport
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
            raise ServiceDown("The Connect service answered something that is not its API.") from error
        self._renew_at = self._clock() + max(lifetime - EARLY, lifetime // 2)


class UserTokens:
    """A Connect token per external user, made by ``create`` and kept until shortly before its end."""

    def __init__(self, clock: Clock, create: Callable[[str], tuple[str, str]]) -> None:
        """``create`` makes a token for an external user and returns it with its ISO 8601 end."""
        self._clock, self._create = clock, create
        self._lock = threading.Lock()
        self._tokens: OrderedDict[str, tuple[str, int]] = OrderedDict()

    def get(self, user: str) -> str:
        """A token of ``user``. Two threads may both make one; both tokens work."""
        with self._lock:
            token, renew_at = self._tokens.get(user, ("", 0))
        if self._clock() < renew_at:
            return token
        token, expires_at = self._create(user)
        with self._lock:
            self._tokens[user] = (token, _renewal(self._clock(), expires_at))
            self._tokens.move_to_end(user)
            while len(self._tokens) > USER_TOKENS:
                self._tokens.popitem(last=False)
        return token

    def drop(self, user: str) -> None:
        """Forget the token of ``user``."""
        with self._lock:
            self._tokens.pop(user, None)


def _renewal(now: int, expires_at: str) -> int:
    try:
        lifetime = parse_iso(expires_at) - now
    except ValueError as error:
        raise ServiceDown("The Connect service answered something that is not its API.") from error
    return now + max(lifetime - USER_EARLY, lifetime // 2)
