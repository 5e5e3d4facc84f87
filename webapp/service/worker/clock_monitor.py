"""Notices that the clock was set back, as it may be by an hour or a day when a machine learns the time.

What was written before stands too far ahead then: leases, ticks, the times of the next attempts.
"""

from webapp.kit.clock import SECOND

TOLERATED = 2 * SECOND


class ClockMonitor:
    """Shown the time again and again by one thread."""

    def __init__(self) -> None:
        self._latest: int | None = None

    def is_set_back(self, now: int) -> bool:
        """Whether ``now`` (epoch milliseconds) lies before what was shown last; at the start, that may be so too."""
        before, self._latest = self._latest, now
        return before is None or now < before - TOLERATED
