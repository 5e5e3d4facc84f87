"""Not asking again before one may: what the service throttled is refused here until its time has come.

Limits are kept apart by what is asked and by whom, so that one noun that is throttled stops no other and no one else.
A service that asks for more patience than :data:`LONGEST` is asked again by then.
"""

import re
from collections.abc import Mapping
from typing import Any

from webapp.dashboard.client.memory import Memory
from webapp.errors import Throttled
from webapp.kit.clock import MINUTE, SECOND, Clock

LONGEST = 5 * MINUTE
_NOUN = re.compile(r"/v1/(?:connect/(?:proj_[a-zA-Z0-9]+/)?)?([^/?]*)")


class Backoff:
    """Remembers what must wait, for one service. Safe to share between threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: Memory[tuple[int, Throttled]] = Memory(clock, lifetime=LONGEST)

    def check(self, key: str) -> None:
        """Raise :class:`Throttled`, with the seconds that are left, while ``key`` must wait."""
        found = self._waiting.get(key)
        left = found[0] - self._clock() if found else 0
        if found and left > 0:
            raise Throttled(found[1].limit, found[1].reset_at, -(-left // SECOND))

    def note(self, key: str, error: Throttled) -> None:
        """The service said ``error`` about ``key``."""
        self._waiting.put(key, (self._clock() + error.retry_after * SECOND, error))


def key_of(method: str, path: str, token: str | None, body: Mapping[str, Any] | None) -> str:
    """What is limited together: the method and noun of a call, and whose it is."""
    noun = _NOUN.match(path)
    user = (body or {}).get("external_user_id", "")
    return f"{method} {noun[1] if noun else path} {token} {user}"
