"""Places: how many deliveries each endpoint may have on their way, so that none that hangs holds up the others.

A delivery takes a place until what came of it is written down. One that has been on its way for a while is *slow*, and
so is its endpoint: slow deliveries are counted apart, beside the senders. So senders are left for endpoints that
answer, however many do not. Before it shows which an endpoint is, it may have a few places; more are given only from
the half of the senders that is nobody's first place.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterable

from webapp.service.domain.deliveries.claims import Task
from webapp.service.domain.deliveries.endpoints import Endpoint

SENDERS = 64
FIRST_PLACES = 4
PER_ENDPOINT = 16
SLOW_S = 0.25
SLOW_SENDERS = 96
SLOW_PER_ENDPOINT = 8
IN_PENALTY = 1


class Places:
    """The places of ``senders``. Threads may share it; :meth:`look` and :meth:`room` are for the one who claims."""

    def __init__(self, senders: int = SENDERS) -> None:
        self._senders, self._reserved = senders, senders // 2
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()  # by endpoint: claimed, and what came of it not written down
        self._on_the_way: dict[str, tuple[str, float]] = {}  # by delivery: its endpoint, and since when
        self._slow: Counter[str] = Counter()  # by endpoint, when it was last looked
        self._slow_total = 0

    def look(self) -> None:
        """See which are slow now; before every claim."""
        limit = time.monotonic() - SLOW_S
        with self._lock:
            self._slow = Counter(endpoint_id for endpoint_id, since in self._on_the_way.values() if since < limit)
            self._slow_total = self._slow.total()

    def room(self, endpoint: Endpoint, claimed: int) -> int:
        """How many more may go to ``endpoint``, when so many were claimed for others just now."""
        with self._lock:
            there, taken = self._taken[endpoint.id], self._taken.total() + claimed
        free = self._senders + min(self._slow_total, SLOW_SENDERS) - taken
        if endpoint.state == "penalty":
            return min(IN_PENALTY - there, free)
        if self._slow[endpoint.id]:
            return min(SLOW_PER_ENDPOINT - there, free - self._reserved)
        return max(min(FIRST_PLACES - there, free), min(PER_ENDPOINT - there, free - self._reserved))

    def take(self, tasks: Iterable[Task]) -> None:
        """``tasks`` are on their way from now on."""
        now = time.monotonic()
        with self._lock:
            for task in tasks:
                self._taken[task.endpoint.id] += 1
                self._on_the_way[task.id] = (task.endpoint.id, now)

    def arrive(self, task: Task) -> None:
        """``task`` is no longer on its way; its place is taken until :meth:`leave`."""
        with self._lock:
            self._on_the_way.pop(task.id, None)

    def leave(self, task: Task) -> None:
        """The place of ``task`` is free."""
        with self._lock:
            self._on_the_way.pop(task.id, None)
            self._taken[task.endpoint.id] -= 1
            if not self._taken[task.endpoint.id]:
                del self._taken[task.endpoint.id]

    @property
    def busy(self) -> int:
        """How many deliveries are on their way."""
        with self._lock:
            return len(self._on_the_way)
