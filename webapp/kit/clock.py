"""Times: integer epoch milliseconds inside the service, ISO 8601 with ``Z`` outside.

Code that needs the time takes a :class:`Clock`, so that tests can control it. A :class:`Deadline` uses a monotonic
clock. A :class:`ClockMonitor` detects that the wall clock was set back, for example when a machine corrects its time.
"""

import functools
import time
from datetime import UTC, datetime
from typing import Protocol

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
TOLERANCE = 2 * SECOND


class Clock(Protocol):
    """A function that returns the time in epoch milliseconds."""

    def __call__(self) -> int: ...


def now() -> int:
    """The wall clock in epoch milliseconds."""
    return time.time_ns() // 1_000_000


@functools.lru_cache(maxsize=8192)  # lists show the same times again and again, and formatting is most of their cost
def iso(ms: int) -> str:
    """``ms`` (epoch milliseconds) as ISO 8601 in UTC, such as ``2026-11-21T01:40:34.123Z``."""
    seconds, rest = divmod(ms, SECOND)
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}.{rest:03d}Z"


def iso_or_none(ms: int | None) -> str | None:
    """:func:`iso` of ``ms``, or None for None."""
    return None if ms is None else iso(ms)


def parse_iso(text: str) -> int:
    """The epoch milliseconds of an ISO 8601 time with an offset. Raises ``ValueError``."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return int(moment.timestamp() * 1000)


class Deadline:
    """A point in time, ``seconds`` from its creation, measured by a monotonic clock."""

    __slots__ = ("_ends",)

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def remaining(self) -> float:
        """The seconds left, always more than zero. Raises ``TimeoutError`` after the deadline."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self._ends

    def at_most(self, seconds: float) -> "Deadline":
        """The earlier of this deadline and one ``seconds`` from now."""
        sooner = Deadline(seconds)
        sooner._ends = min(sooner._ends, self._ends)
        return sooner


class ClockMonitor:
    """Detects in one thread that the clock was set back, by comparing successive times.

    Times that were stored before, such as leases and next attempts, are then too far in the future.
    """

    def __init__(self) -> None:
        self._latest: int | None = None

    def is_set_back(self, now: int) -> bool:
        """Whether ``now`` (epoch milliseconds) is before the time of the last call; True in the first call."""
        before, self._latest = self._latest, now
        return before is None or now < before - TOLERANCE


class FakeClock:
    """A clock that only :meth:`advance` moves, for tests and demonstrations."""

    def __init__(self, at: int = 1_800_000_000_000) -> None:
        self.at = at

    def __call__(self) -> int:
        return self.at

    def advance(self, ms: int) -> None:
        """Move forward by ``ms`` milliseconds (back, when negative)."""
        self.at += ms
