"""Collects records in memory while calls are answered, and writes them together a moment later.

Records that a busy store refused are written with the next ones. A process that is killed loses those not yet written.
Counts may be added twice if a connection to PostgreSQL is lost during the commit, when it is unknown whether the commit
succeeded.
"""

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from webapp.errors import Unavailable
from webapp.service.domain.base.service import Service
from webapp.store.contract import Store

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
SOON_S = 2.0


def _newest(_before: T, value: T) -> T:
    return value


@dataclass(slots=True)
class _Pending(Generic[K, T]):
    """The values by key, and what will write them."""

    values: dict[K, T] = field(default_factory=dict)
    timer: threading.Timer | None = None


class WriteBuffer(Generic[K, T]):
    """Values by key, which ``write`` writes down; two of one key are combined, or the newer one counts."""

    def __init__(
        self, write: Callable[[Service, Mapping[K, T]], None], combined: Callable[[T, T], T] = _newest
    ) -> None:
        self._write, self._combined, self._lock = write, combined, threading.Lock()
        self._pending: WeakKeyDictionary[Store, _Pending[K, T]] = WeakKeyDictionary()

    def note(self, service: Service, key: K, value: T) -> None:
        """Have ``value`` written soon."""
        with self._lock:
            pending = self._of(service)
            before = pending.values
            before[key] = self._combined(before[key], value) if key in before else value
            if pending.timer is None:
                pending.timer = threading.Timer(SOON_S, self.flush, (service,))
                pending.timer.daemon = True
                pending.timer.start()

    def waiting(self, service: Service) -> int:
        """How many values are to be written."""
        pending = self._pending.get(service.store)
        return len(pending.values) if pending else 0

    def flush(self, service: Service) -> None:
        """Write the collected records; if the store is busy, they are kept for the next time."""
        with self._lock:
            pending = self._pending.pop(service.store, None)
        if pending is None:
            return
        if pending.timer is not None:
            pending.timer.cancel()
        try:
            self._write(service, pending.values)
        except Unavailable:
            self._put_back(service, pending.values)

    def _put_back(self, service: Service, values: Mapping[K, T]) -> None:
        with self._lock:
            newer = self._of(service).values
            for key, value in values.items():
                newer[key] = self._combined(value, newer[key]) if key in newer else value

    def _of(self, service: Service) -> _Pending[K, T]:
        return self._pending.setdefault(service.store, _Pending())
