"""Room for the large bodies that are on their way at once, in bytes, so that they do not fill the memory.

Each endpoint may have half of it: one that hangs with large events never holds up the large ones of others.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from webapp.errors import Unavailable

MOST_BYTES = 64 * 1024 * 1024
WAIT_S = 10.0  # the lease of a delivery must outlast this and the request's deadline


class LargeBodies:
    """How much is held, and by which endpoints. Threads share it."""

    def __init__(self, most: int = MOST_BYTES, *, wait_s: float = WAIT_S) -> None:
        self._most, self._wait_s = most, wait_s
        self._held: Counter[str] = Counter()
        self._free = threading.Condition()

    @contextmanager
    def room(self, endpoint_id: str, size: int) -> Iterator[None]:
        """Hold ``size`` bytes for ``endpoint_id``. Raises :class:`Unavailable` when there is no room for a while."""
        counted = min(size, self._most // 2)
        with self._free:
            if not self._free.wait_for(lambda: self._fits(endpoint_id, counted), self._wait_s):
                raise Unavailable("Too many large events are on their way; this one waits.")
            self._held[endpoint_id] += counted
        try:
            yield
        finally:
            with self._free:
                self._held[endpoint_id] -= counted
                if not self._held[endpoint_id]:
                    del self._held[endpoint_id]
                self._free.notify_all()

    def _fits(self, endpoint_id: str, size: int) -> bool:
        return self._held.total() + size <= self._most and self._held[endpoint_id] + size <= self._most // 2
