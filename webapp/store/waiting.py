"""Those who wait for each other at the one write connection of a process: for their turn, and for the shared commit.

A thread that has a place among those that compute leaves it meanwhile (:mod:`webapp.kit.places`). So those who share a
commit go on one after another, instead of all at once.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from webapp.errors import Unavailable
from webapp.kit.places import HERE, Place

MOST_WAITING = 32
STUCK_S = 1.0
KEPT_S = 0.005
_LOOK_S = 0.25


@dataclass(slots=True, eq=False)
class Waiter:
    """Who waits for a turn, since when by the monotonic clock."""

    place: Place
    since: float


class Queue:
    """Those who wait for their turn, in order; ``waiters`` changes under ``mutex`` alone.

    Nobody waits for longer than ``patience_s``, and few wait where the turn does not come round.
    """

    def __init__(self, mutex: threading.Lock, patience_s: float) -> None:
        self._mutex, self._patience_s = mutex, patience_s
        self.waiters: deque[Waiter] = deque()

    def join(self) -> Waiter:
        """Be the last; call it with the mutex in hand. Raises :class:`Unavailable` where too many wait."""
        waiter = Waiter(HERE.place or Place(), time.monotonic())
        first = self.waiters[0] if self.waiters else waiter
        if len(self.waiters) >= MOST_WAITING and waiter.since - first.since > STUCK_S:
            raise Unavailable
        self.waiters.append(waiter)
        return waiter

    def wait(self, waiter: Waiter) -> None:
        """Until somebody has taken ``waiter`` out and called it. Raises :class:`Unavailable` where that takes long."""
        waiter.place.leave()
        while not waiter.place.wait(_LOOK_S):
            if self._gives_up(waiter):
                waiter.place.come_back()
                raise Unavailable

    def _gives_up(self, waiter: Waiter) -> bool:
        waited = time.monotonic() - waiter.since
        with self._mutex:
            if waiter not in self.waiters:
                return False  # it has the turn, and goes on as soon as there is room
            if waited <= self._patience_s and (waited <= STUCK_S or self.waiters.index(waiter) < MOST_WAITING):
                return False
            self.waiters.remove(waiter)
            return True


@dataclass(slots=True)
class Group:
    """Those who share a commit. ``waiting`` are those of them who have done their work.

    Once it is ``overdue``, its transaction is no longer kept open for those who are about to begin.
    """

    began_at: float = field(default_factory=time.monotonic)
    waiting: list[Place] = field(default_factory=list)
    overdue: bool = False
    ended: bool = False
    error: BaseException | None = None

    def wait(self, mutex: threading.Lock, hasten: Callable[[], None]) -> None:
        """Wait for the commit. Where it takes long to come, the first who waits calls ``hasten``."""
        place = HERE.place or Place()
        with mutex:
            if self.ended:
                return
            self.waiting.append(place)
            is_first = len(self.waiting) == 1
        place.leave()
        if is_first:
            if place.wait(KEPT_S):
                return
            hasten()
        place.wait()
