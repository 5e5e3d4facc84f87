"""How many deliveries to each endpoint may be in flight, so that an endpoint that hangs does not hold up others.

A delivery occupies a slot until its outcome is stored. One that has been in flight for :data:`SLOW_S` is *slow*, and so
is its endpoint: slow deliveries get slots of their own, in addition to the senders, so that senders remain for
endpoints that answer. Each endpoint may have a few slots at first; more come only from the half of the senders that is
not reserved for first slots.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterable

from webapp.service.domain.deliveries.claims import Task
from webapp.service.domain.deliveries.endpoints import Endpoint

SENDERS = 64
FIRST_SLOTS = 4
PER_ENDPOINT = 16
SLOW_S = 0.25
SLOW_SENDERS = 96
SLOW_PER_ENDPOINT = 8
IN_PENALTY = 1


class DeliverySlots:
    """The slots of ``senders``, shared by threads; only the one that claims calls :meth:`look` and :meth:`room`."""

    def __init__(self, senders: int = SENDERS) -> None:
        self._senders, self._reserved = senders, senders // 2
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()  # by endpoint: claimed, and the outcome not stored
        self._on_the_way: dict[str, tuple[str, float]] = {}  # by delivery: its endpoint, and when it was sent
        self._slow: Counter[str] = Counter()  # by endpoint, at the last look
        self._slow_total = 0

    def look(self) -> None:
        """Count the slow deliveries; to be called before every claim."""
        limit = time.monotonic() - SLOW_S
        with self._lock:
            self._slow = Counter(endpoint_id for endpoint_id, since in self._on_the_way.values() if since < limit)
            self._slow_total = self._slow.total()

    def room(self, endpoint: Endpoint, claimed: int) -> int:
        """How many more deliveries may go to ``endpoint``, if ``claimed`` were just claimed for others."""
        with self._lock:
            there, taken = self._taken[endpoint.id], self._taken.total() + claimed
        free = self._senders + min(self._slow_total, SLOW_SENDERS) - taken
        if endpoint.state == "penalty":
            return min(IN_PENALTY - there, free)
        if self._slow[endpoint.id]:
            return min(SLOW_PER_ENDPOINT - there, free - self._reserved)
        return max(min(FIRST_SLOTS - there, free), min(PER_ENDPOINT - there, free - self._reserved))

    def take(self, tasks: Iterable[Task]) -> None:
        """Occupy slots for ``tasks``, which are sent now."""
        now = time.monotonic()
        with self._lock:
            for task in tasks:
                self._taken[task.endpoint.id] += 1
                self._on_the_way[task.id] = (task.endpoint.id, now)

    def arrive(self, task: Task) -> None:
        """Note that ``task`` is no longer in flight; its slot stays occupied until :meth:`leave`."""
        with self._lock:
            self._on_the_way.pop(task.id, None)

    def leave(self, task: Task) -> None:
        """Free the slot of ``task``."""
        with self._lock:
            self._on_the_way.pop(task.id, None)
            self._taken[task.endpoint.id] -= 1
            if not self._taken[task.endpoint.id]:
                del self._taken[task.endpoint.id]

    @property
    def busy(self) -> int:
        """How many deliveries are in flight."""
        with self._lock:
            return len(self._on_the_way)
