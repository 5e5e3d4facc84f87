"""The one source of time: integer epoch milliseconds inside, ISO 8601 with ``Z`` at the edges.

Code that needs the time takes a :class:`Clock`, so that tests can move it. A :class:`Deadline` counts down by a clock
that nobody moves. A :class:`ClockMonitor` notices that the clock was set back, as it may be by an hour or a day when a
machine learns the time.
"""

import functools
import time
from datetime import UTC, datetime
from typing import Protocol

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
TOLERATED = 2 * SECOND


class Clock(Protocol):
    """Anything that tells the time in epoch milliseconds."""

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
    """:func:`iso`, keeping an absent time absent."""
    return None if ms is None else iso(ms)


def parse_iso(text: str) -> int:
    """The epoch milliseconds of an ISO 8601 time with an offset. Raises ``ValueError``."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return int(moment.timestamp() * 1000)


class Deadline:
    """Counts down from the moment it is made, by a clock that nobody sets; ``remaining`` is in seconds."""

    __slots__ = ("_ends",)

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left, always above zero; raises TimeoutError when there are none."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left

    def at_most(self, seconds: float) -> "Deadline":
        """The sooner of this deadline and one that starts now."""
        sooner = Deadline(seconds)
        sooner._ends = min(sooner._ends, self._ends)
        return sooner


class ClockMonitor:
    """Shown the time again and again by one thread.

    What was written before the clock was set back stands too far ahead: leases, ticks, the times of the next attempts.
    """

    def __init__(self) -> None:
        self._latest: int | None = None

    def is_set_back(self, now: int) -> bool:
        """Whether ``now`` (epoch milliseconds) lies before what was shown last; at the start, that may be so too."""
        before, self._latest = self._latest, now
        return before is None or now < before - TOLERATED


class FakeClock:
    """A clock that stands still until it is told to move; for tests and demonstrations."""

    def __init__(self, at: int = 1_800_000_000_000) -> None:
        self.at = at

    def __call__(self) -> int:
        return self.at

    def advance(self, ms: int) -> None:
        """Move forward by ``ms`` milliseconds (back, when negative)."""
        self.at += ms
