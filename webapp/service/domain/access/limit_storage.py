"""Counters of rate limits in this process's memory, as a storage of the library ``limits``.

The library's own memory storage gives back a count that it reads after letting go of its lock, so that of calls side by
side fewer may pass than the limit says, and it begins a thread for nearly every count. Here one lock covers the
whole step, and what has expired is swept while counting. Times come from the service's clock.
"""

import threading

from limits.storage import Storage

from webapp.kit.clock import SECOND, Clock

_SWEEP_FROM = 1024


class MemoryCounters(Storage):
    """Fixed windows that begin with their first count. Threads may share one."""

    STORAGE_SCHEME = None  # not to be had by address: it needs a clock

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._windows: dict[str, tuple[int, int]] = {}  # key: count, end in epoch milliseconds
        self._sweep_at = _SWEEP_FROM

    @property
    def base_exceptions(self) -> type[Exception] | tuple[type[Exception], ...]:
        """Nothing here fails by itself."""
        return ()

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``: the count in the window of ``expiry`` seconds, and its end in epoch milliseconds."""
        with self._lock:
            now = self._clock()
            count, end = self._windows.get(key, (0, 0))
            if not now < end <= now + expiry * SECOND:  # over, or the clock was put back
                count, end = 0, now + expiry * SECOND
                self._sweep(now)
            self._windows[key] = count + amount, end
            return count + amount, end

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count ``amount`` in a window of ``expiry`` seconds: the count so far."""
        return self.hit(key, expiry, amount)[0]

    def get(self, key: str) -> int:
        """The count in the window that is open now."""
        count, end = self._windows.get(key, (0, 0))
        return count if end > self._clock() else 0

    def get_expiry(self, key: str) -> float:
        """The end of the window in seconds of Unix time; now, when there is none."""
        return self._windows.get(key, (0, self._clock()))[1] / SECOND

    def check(self) -> bool:
        """It is always there."""
        return True

    def reset(self) -> int | None:
        """Forget every window; how many there were."""
        with self._lock:
            count = len(self._windows)
            self._windows.clear()
        return count

    def clear(self, key: str) -> None:
        """Forget the window of ``key``."""
        with self._lock:
            self._windows.pop(key, None)

    def _sweep(self, now: int) -> None:
        """Drop what is over, whenever the number of windows has doubled."""
        if len(self._windows) < self._sweep_at:
            return
        self._windows = {key: window for key, window in self._windows.items() if window[1] > now}
        self._sweep_at = max(_SWEEP_FROM, 2 * len(self._windows))
