"""Rate limits (contract "Rate limits"): how many calls pass in a window, and the state of a limit after a call."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from webapp.errors import Throttled
from webapp.kit.clock import SECOND, Clock
from webapp.service.domain.base import limit_counters
from webapp.service.domain.base.limit_counters import Counters, MemoryCounters, SharedCounters, StorageCounters


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
    """The key under which calls in an environment of a project are counted."""
    return f"{name}|{project_id}|{environment}"


@dataclass(frozen=True, slots=True)
class LimitState:
    """The state of a limit after a call that passed; ``reset_at`` in seconds of Unix time."""

    limit: int
    remaining: int
    reset_at: int


class Limiter:
    """Counts calls against limits, at ``address`` (PATCHBAY_LIMITS_STORAGE). Threads may share one.

    ``closed``: while a storage of the library is away, calls are refused rather than counted in this process.
    """

    def __init__(self, address: str, clock: Clock, *, closed: bool = False) -> None:
        self._clock = clock
        self._counters: Counters
        if address.startswith(limit_counters.SHARED):
            self._counters = SharedCounters(address, clock)
        elif address == limit_counters.MEMORY:
            self._counters = MemoryCounters(clock)
        else:
            self._counters = StorageCounters(address, clock, closed=closed)

    def open(self) -> None:
        """Open a storage of the library. Raises :class:`webapp.setting_values.BadSetting`."""
        if isinstance(self._counters, StorageCounters):
            self._counters.open()

    def status(self) -> str | None:
        """The state of the library's storage in a word; None for counters in memory.

        Raises :class:`webapp.errors.Unavailable` if it is away and calls are refused.
        """
        return self._counters.status() if isinstance(self._counters, StorageCounters) else None

    def check(self, limit: Limit, key: str) -> None:
        """Raise :class:`Throttled` if the window of ``key`` is full, without counting."""
        count, end = self._counters.hit(key, limit.window_s, 0)
        if count >= limit.requests:
            raise self._throttled(limit, end)

    def state(self, limit: Limit, key: str) -> LimitState:
        """The state of the window of ``key``, without counting."""
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
