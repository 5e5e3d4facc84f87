"""Counting calls against limits (contract "Rate limits"): in memory, which processes of a machine may share, or in any
storage of the library ``limits``.
"""

import threading
from dataclasses import dataclass
from typing import Literal, NamedTuple

from webapp.errors import Throttled
from webapp.kit.clock import SECOND, Clock
from webapp.service.domain.base import limit_storage, shared_counters
from webapp.service.domain.base.far_counters import Counters, FarCounters
from webapp.service.domain.base.shared_counters import SharedCounters

_SWEEP_FROM = 1024


class Limit(NamedTuple):
    """``requests`` per window of ``window_s`` seconds."""

    requests: int
    window_s: int


LimitName = Literal["tokens", "accounts", "tools", "executions", "proxy"]
LIMITS: dict[LimitName, Limit] = {
    "accounts": Limit(2_000, 300),
    "tools": Limit(3_000, 300),
    "executions": Limit(2_000, 300),
    "proxy": Limit(1_000, 300),
    "tokens": Limit(100, 60),
}


def key_of(name: LimitName, project_id: str, environment: str) -> str:
    """What calls in an environment of a project are counted under."""
    return f"{name}|{project_id}|{environment}"


@dataclass(frozen=True, slots=True)
class LimitState:
    """How a limit stands after a call that it let pass; ``reset_at`` in seconds of Unix time."""

    limit: int
    remaining: int
    reset_at: int


class MemoryCounters:
    """Counters in this process's memory: fixed windows that begin with their first count. Threads may share one.

    The library's own memory storage gives back a count that it reads after letting go of its lock, so that of calls
    side by side fewer may pass than the limit says, and it begins a thread for nearly every count. Here one lock
    covers the whole step, and what has expired is swept while counting. Times come from the service's clock.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._windows: dict[str, tuple[int, int]] = {}  # key: count, end in epoch milliseconds
        self._sweep_at = _SWEEP_FROM

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``, perhaps none: the count in the window of ``expiry`` seconds, and when it ends (epoch
        milliseconds)."""
        with self._lock:
            now = self._clock()
            count, end = self._windows.get(key, (0, 0))
            if not now < end <= now + expiry * SECOND:  # over, or the clock was put back
                count, end = 0, now + expiry * SECOND
                self._sweep(now)
            if amount:
                self._windows[key] = count + amount, end
            return count + amount, end

    def _sweep(self, now: int) -> None:
        """Drop what is over, whenever the number of windows has doubled."""
        if len(self._windows) < self._sweep_at:
            return
        self._windows = {key: window for key, window in self._windows.items() if window[1] > now}
        self._sweep_at = max(_SWEEP_FROM, 2 * len(self._windows))


class Limiter:
    """Counts calls in fixed windows that begin with their first call. Threads may share one.

    ``closed``: while a storage elsewhere is away, calls are refused rather than counted in this process.
    """

    def __init__(self, address: str, clock: Clock, *, closed: bool = False) -> None:
        self._clock = clock
        self._far: FarCounters | None = None
        self._counters: Counters
        if address.startswith(shared_counters.SCHEME):
            self._counters = SharedCounters(address, clock)
        elif address == limit_storage.MEMORY:
            self._counters = MemoryCounters(clock)
        else:
            self._counters = self._far = FarCounters(address, MemoryCounters(clock), closed=closed)

    def open(self) -> None:
        """Open a storage elsewhere. Raises :class:`webapp.settings.BadSetting` for one that cannot be used."""
        if self._far is not None:
            self._far.open()

    def standing(self) -> str | None:
        """How the storage is just now, in a word; None where none is elsewhere. Raises
        :class:`webapp.errors.Unavailable` where it is away and calls are refused."""
        return self._far.standing() if self._far is not None else None

    def check(self, limit: Limit, key: str) -> None:
        """Raise :class:`Throttled` where the window of ``key`` is full; nothing is counted."""
        count, end = self._counters.hit(key, limit.window_s, 0)
        if count >= limit.requests:
            raise self._throttled(limit, end)

    def state(self, limit: Limit, key: str) -> LimitState:
        """How the window of ``key`` stands; nothing is counted."""
        count, end = self._counters.hit(key, limit.window_s, 0)
        return LimitState(limit.requests, max(0, limit.requests - count), -(-end // SECOND))

    def hit(self, limit: Limit, key: str, amount: int = 1) -> LimitState:
        """Count ``amount``, mostly one call, under ``key``. Raises :class:`Throttled` once the window is full."""
        count, end = self._counters.hit(key, limit.window_s, amount)
        if count > limit.requests:
            raise self._throttled(limit, end)
        return LimitState(limit.requests, limit.requests - count, -(-end // SECOND))

    def _throttled(self, limit: Limit, end: int) -> Throttled:
        wait = max(1, -(-(end - self._clock()) // SECOND))
        return Throttled(limit.requests, -(-end // SECOND), wait)
