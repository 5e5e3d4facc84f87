"""A small memory of answers that may be a few seconds old, such as the counts in the navigation.

Each process has its own; nothing depends on two of them agreeing.
"""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

from webapp.kit.clock import Clock

T = TypeVar("T")


class Memory(Generic[T]):
    """At most ``size`` values, each for ``lifetime`` milliseconds."""

    def __init__(self, clock: Clock, *, lifetime: int, size: int = 1_000) -> None:
        self._clock, self._lifetime, self._size = clock, lifetime, size
        self._lock = threading.Lock()
        self._values: OrderedDict[str, tuple[T, int]] = OrderedDict()

    def get(self, key: str) -> T | None:
        """The value, unless it is absent or too old."""
        with self._lock:
            value, until = self._values.get(key, (None, 0))
        return value if self._clock() < until else None

    def put(self, key: str, value: T, lifetime: int | None = None) -> T:
        """Keep ``value`` and hand it back."""
        with self._lock:
            self._values[key] = (value, self._clock() + (self._lifetime if lifetime is None else lifetime))
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        return value

    def drop(self, key: str) -> None:
        """Forget the value, because it has just been changed."""
        with self._lock:
            self._values.pop(key, None)
