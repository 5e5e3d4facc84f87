"""Counters in a storage of the library ``limits``, such as Redis, which machines share; and what happens while it is
away.

An operator chooses (PATCHBAY_LIMITS_AWAY): either calls pass and are counted in each process alone, or they are
refused. Whether it is back is tried every few seconds.
"""

import logging
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from webapp.errors import Unavailable
from webapp.kit.clock import SECOND
from webapp.service.domain.base import limit_storage

if TYPE_CHECKING:  # the library is imported by whoever counts elsewhere
    from limits.storage import Storage

SHARED_MARGIN = SECOND // 2  # shared storages tell the end of a window in rounded seconds
AWAY_S = 2.0
log = logging.getLogger("patchbay.limits")


class Counters(Protocol):
    """Where calls are counted."""

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``, perhaps none: the count in the window of ``expiry`` seconds, and when it ends (epoch
        milliseconds)."""
        ...


class LimitsAway(Unavailable):
    """Calls cannot be counted right now, so none is let pass; try again in a moment."""


class FarCounters:
    """Counters at ``address``, opened by the first count, unless :meth:`open` did so before. Threads may share one.

    While they are away, calls are counted ``alone``, in this process, or refused where it is ``closed``.
    """

    def __init__(self, address: str, alone: Counters, *, closed: bool) -> None:
        self._address, self._alone, self._closed = address, alone, closed
        self._storage: Storage | None = None
        self._opening = threading.Lock()
        self._away_until = 0.0
        self._is_away = False

    def open(self) -> "Storage":
        """The storage. Raises :class:`webapp.settings.BadSetting` for an address that cannot be used."""
        with self._opening:
            self._storage = self._storage or limit_storage.opened(self._address)
            return self._storage

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``, perhaps none: the count in the window of ``expiry`` seconds, and when it ends (epoch
        milliseconds). Raises :class:`LimitsAway`."""
        if time.monotonic() < self._away_until:
            return self._without(key, expiry, amount)
        storage: Any = self._storage or self.open()
        try:
            count = storage.incr(key, expiry, amount) if amount else storage.get(key)
            end = int(storage.get_expiry(key) * SECOND) + SHARED_MARGIN
        except limit_storage.failure() as error:
            self._miss(error.storage_error)
            return self._without(key, expiry, amount)
        self._meet()
        return count, end

    def standing(self) -> str:
        """How it is just now, in a word: ``ok``, or what happens while it is away. Raises :class:`LimitsAway`."""
        if limit_storage.answers(self.open()):
            self._meet()
            return "ok"
        self._miss("it does not answer")
        if self._closed:
            raise LimitsAway
        return "counted in each process"

    def _without(self, key: str, expiry: int, amount: int) -> tuple[int, int]:
        if self._closed:
            raise LimitsAway
        return self._alone.hit(key, expiry, amount)

    def _miss(self, reason: object) -> None:
        if not self._is_away:
            what = "Calls are refused" if self._closed else "Rate limits are counted in each process alone"
            log.error("%s until the storage of limits answers again: %s", what, reason)
        self._is_away, self._away_until = True, time.monotonic() + AWAY_S

    def _meet(self) -> None:
        if self._is_away:
            log.warning("The storage of limits answers again.")
            self._is_away, self._away_until = False, 0.0
