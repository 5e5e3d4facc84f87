"""What is noted in memory while calls are answered, and written together a moment later, so that no call waits for it.

A process that is killed loses what it noted last.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.store.contract import Store

T = TypeVar("T")
SOON_S = 2.0


@dataclass(slots=True)
class _Pending(Generic[T]):
    """The newest value by key, and what will write them."""

    values: dict[str, T] = field(default_factory=dict)
    timer: threading.Timer | None = None


class Gathered(Generic[T]):
    """Values by key, which ``write`` writes down. A store that is busy does not matter to them."""

    def __init__(self, write: Callable[[Service, Mapping[str, T]], None]) -> None:
        self._write, self._lock = write, threading.Lock()
        self._pending: WeakKeyDictionary[Store, _Pending[T]] = WeakKeyDictionary()

    def note(self, service: Service, key: str, value: T) -> None:
        """Have ``value`` written soon, in place of one that was noted before."""
        with self._lock:
            pending = self._pending.setdefault(service.store, _Pending())
            pending.values[key] = value
            if pending.timer is None:
                pending.timer = threading.Timer(SOON_S, self.flush, (service,))
                pending.timer.daemon = True
                pending.timer.start()

    def flush(self, service: Service) -> None:
        """Write what was noted so far."""
        with self._lock:
            pending = self._pending.pop(service.store, None)
        if pending is None:
            return
        if pending.timer is not None:
            pending.timer.cancel()
        with suppress(Unavailable):
            self._write(service, pending.values)
