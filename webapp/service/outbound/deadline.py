"""A moment by which a whole exchange must be over, on the monotonic clock, so that no clock change moves it."""

import time


class Deadline:
    """Counts down from the moment it is made; `remaining` is in seconds."""

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
