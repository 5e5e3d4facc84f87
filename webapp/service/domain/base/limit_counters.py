"""Counters of calls for rate limits, in fixed windows that begin with their first call.

They are in the memory of this process, in memory that the processes of one machine share, or in a storage of the
library ``limits``, such as Redis, which machines share. Exactly as many calls pass as a limit allows, however many
threads and processes count. Times come from the service's clock. A storage is not contacted when it is opened, so a
service starts while it is away; what happens until it responds is the operator's choice (PATCHBAY_LIMITS_AWAY).
"""

import fcntl
import hashlib
import importlib
import logging
import mmap
import os
import secrets
import struct
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from webapp.errors import Unavailable
from webapp.kit.clock import SECOND, Clock
from webapp.setting_values import BadSetting

if TYPE_CHECKING:  # the library takes time and memory, and most count in memory
    from limits.errors import ConfigurationError
    from limits.storage import Storage

MEMORY, SHARED = "memory://", "shared://"  # how the addresses of counters in memory begin
AWAY_S = 2.0  # how long a storage that did not answer is not asked
_END_MARGIN = SECOND // 2  # storages round the end of a window to seconds
_TIMEOUT_S = 1.0
_SINGLE_SERVERS = ("redis", "rediss", "redis+unix", "valkey", "valkeys", "valkey+unix")
_SWEEP_FROM = 1024

BUCKETS, SLOTS = 1024, 128
_SLOT = struct.Struct("=16sqq")  # the key's digest, the count, the end in epoch milliseconds
_STATE = struct.Struct("=qq")
_KEY_BYTES = 16
_BUCKET_BYTES = SLOTS * _SLOT.size
_SECRET_AT, _SECRET_BYTES = BUCKETS * _BUCKET_BYTES, 32  # behind the buckets
_MEMORY_BYTES = _SECRET_AT + _SECRET_BYTES

log = logging.getLogger("patchbay.limits")


class LimitsAway(Unavailable):
    """Calls cannot be counted right now, so none is let pass; try again in a moment."""


class Counters(Protocol):
    """Counts calls. Threads may share one."""

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``, perhaps none: the count in the window of ``expiry`` seconds, and when it ends (epoch
        milliseconds)."""
        ...


class MemoryCounters:
    """Counters in the memory of this process.

    One lock covers the whole step. The library's own memory storage reads a count after it has let go of its lock, and
    starts a thread for counts without a lock, which fails when two do so at once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._windows: dict[str, tuple[int, int]] = {}  # key: count, end in epoch milliseconds
        self._sweep_at = _SWEEP_FROM

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``, as :meth:`Counters.hit` has it."""
        with self._lock:
            now = self._clock()
            count, end = self._windows.get(key, (0, 0))
            if not now < end <= now + expiry * SECOND:  # over, or the clock was put back
                count, end = 0, now + expiry * SECOND
                self._sweep(now)
            if amount:
                self._windows[key] = count + amount, end
            return count + amount, end

    def _sweep(self, now: int) -> None:
        """Drop the windows that have ended, whenever their number has doubled."""
        if len(self._windows) < self._sweep_at:
            return
        self._windows = {key: window for key, window in self._windows.items() if window[1] > now}
        self._sweep_at = max(_SWEEP_FROM, 2 * len(self._windows))


def create_shared() -> str:
    """Make memory for :class:`SharedCounters`: its address, for this process and those that it forks.

    The memory ends with the last of them.
    """
    descriptor = os.memfd_create("patchbay-limits")
    os.ftruncate(descriptor, _MEMORY_BYTES)
    os.pwrite(descriptor, secrets.token_bytes(_SECRET_BYTES), _SECRET_AT)
    return f"{SHARED}{descriptor}"


class SharedCounters:
    """Counters in memory that the processes of one machine share, at an ``address`` of :func:`create_shared`.

    A window is a slot of 32 bytes in one of many buckets. Its key chooses the bucket by a digest with a secret of this
    memory, so that clients, who may choose keys, cannot tell which keys share a bucket. The kernel locks a bucket while
    it is updated, so a process that is killed leaves no lock. In a full bucket a new window replaces the one with the
    lowest count; that takes some hundred thousand windows at once.
    """

    def __init__(self, address: str, clock: Clock) -> None:
        self._descriptor, self._clock = int(address.removeprefix(SHARED)), clock
        self._memory = mmap.mmap(self._descriptor, _MEMORY_BYTES)
        self._secret = self._memory[_SECRET_AT:_MEMORY_BYTES]
        self._lock = threading.Lock()  # the kernel's lock is one for all threads of a process

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``, as :meth:`Counters.hit` has it."""
        digest = self._digest(key)
        bucket = int.from_bytes(digest[:4], "big") % BUCKETS
        with self._lock:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX, 1, bucket)
            try:
                return self._count(digest, bucket * _BUCKET_BYTES, expiry, amount)
            finally:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, bucket)

    def _digest(self, key: str) -> bytes:
        """The digest of ``key`` in this memory; its first bytes choose the bucket."""
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES, key=self._secret).digest()

    def _count(self, digest: bytes, bucket_at: int, expiry: int, amount: int) -> tuple[int, int]:
        now, place = self._clock(), self._find(digest, bucket_at)
        count, end = (0, 0) if place is None else _STATE.unpack_from(self._memory, place + _KEY_BYTES)
        if not now < end <= now + expiry * SECOND:  # over, or the clock was put back
            count, end = 0, now + expiry * SECOND
        if amount:
            place = self._vacate(bucket_at, now) if place is None else place
            _SLOT.pack_into(self._memory, place, digest, count + amount, end)
        return count + amount, end

    def _find(self, digest: bytes, bucket_at: int) -> int | None:
        """The position of the window of ``digest`` in the bucket at ``bucket_at``."""
        place = self._memory.find(digest, bucket_at, bucket_at + _BUCKET_BYTES)
        while place >= 0 and (place - bucket_at) % _SLOT.size:
            place = self._memory.find(digest, place + 1, bucket_at + _BUCKET_BYTES)
        return place if place >= 0 else None

    def _vacate(self, bucket_at: int, now: int) -> int:
        """The slot of the bucket for a new window: one that is over, else the one that counted least."""
        windows = list(_SLOT.iter_unpack(self._memory[bucket_at : bucket_at + _BUCKET_BYTES]))
        number = min(range(SLOTS), key=lambda slot: (windows[slot][2] > now, windows[slot][1], windows[slot][2]))
        return bucket_at + number * _SLOT.size


class StorageCounters:
    """Counters in a storage of the library at ``address``, opened by the first count or by :meth:`open`.

    While the storage is away, calls are counted in the memory of this process, or refused if it is ``closed``; the
    storage is tried again every few seconds.
    """

    def __init__(self, address: str, clock: Clock, *, closed: bool) -> None:
        self._address, self._meanwhile, self._closed = address, MemoryCounters(clock), closed
        self._storage: Storage | None = None
        self._opening = threading.Lock()
        self._away_until = 0.0
        self._is_away = False

    def open(self) -> "Storage":
        """The storage. Raises :class:`BadSetting` for an address that cannot be used."""
        with self._opening:
            self._storage = self._storage or open_storage(self._address)
            return self._storage

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``, as :meth:`Counters.hit` has it. Raises :class:`LimitsAway`."""
        from limits.errors import StorageError

        if time.monotonic() < self._away_until:
            return self._hit_without(key, expiry, amount)
        storage: Any = self._storage or self.open()
        try:
            count = storage.incr(key, expiry, amount) if amount else storage.get(key)
            end = int(storage.get_expiry(key) * SECOND) + _END_MARGIN
        except StorageError as error:
            self._set_away(error.storage_error)
            return self._hit_without(key, expiry, amount)
        self._set_back()
        return count, end

    def status(self) -> str:
        """``ok``, or what happens while the storage is away. Raises :class:`LimitsAway` where calls are refused."""
        try:
            answers = self.open().check()
        except BadSetting:
            raise
        except Exception:  # whatever the storage's own client raises
            answers = False
        if answers:
            self._set_back()
            return "ok"
        self._set_away("it does not answer")
        if self._closed:
            raise LimitsAway
        return "counted in each process"

    def _hit_without(self, key: str, expiry: int, amount: int) -> tuple[int, int]:
        if self._closed:
            raise LimitsAway
        return self._meanwhile.hit(key, expiry, amount)

    def _set_away(self, reason: object) -> None:
        if not self._is_away:
            what = "Calls are refused" if self._closed else "Rate limits are counted in each process separately"
            log.error("%s until the storage of limits answers again: %s", what, reason)
        self._is_away, self._away_until = True, time.monotonic() + AWAY_S

    def _set_back(self) -> None:
        if self._is_away:
            log.warning("The storage of limits answers again.")
            self._is_away, self._away_until = False, 0.0


def open_storage(address: str) -> "Storage":
    """The storage of the library at ``address`` (PATCHBAY_LIMITS_STORAGE). Raises :class:`BadSetting`."""
    from limits.errors import ConfigurationError
    from limits.storage import Storage, storage_from_string

    scheme, separator, _ = address.partition("://")
    if not separator:  # it is not repeated: it may be a password
        raise BadSetting("PATCHBAY_LIMITS_STORAGE is no kind of storage; use redis://host:6379, for example.")
    try:
        storage = storage_from_string(address, wrap_exceptions=True, **_storage_options(scheme))
    except ConfigurationError as error:
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE cannot be used: {_reason(scheme, error)}") from error
    except Exception as error:
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE is not an address that {scheme} understands.") from error
    if not isinstance(storage, Storage):
        raise BadSetting(f"PATCHBAY_LIMITS_STORAGE cannot begin with {scheme}; leave out async+.")
    return storage


def _storage_options(scheme: str) -> dict[str, Any]:
    """Options so that a storage that hangs or is away does not hold a thread for long, and a broken connection is
    replaced once.
    """
    kind = next((kind for kind in ("redis", "valkey") if scheme.startswith(kind)), None)
    if kind is None:
        return {}
    options: dict[str, Any] = {"socket_timeout": _TIMEOUT_S, "socket_connect_timeout": _TIMEOUT_S}
    if scheme in _SINGLE_SERVERS:
        with suppress(ImportError):  # the library says what is missing
            retry, backoff = (importlib.import_module(f"{kind}.{name}") for name in ("retry", "backoff"))
            options["retry"] = retry.Retry(backoff.NoBackoff(), 1)
    return options


def _reason(scheme: str, error: "ConfigurationError") -> str:
    if "unknown storage scheme" in str(error):
        return f"{scheme or 'it'} is no kind of storage; use memory:// or redis://host:6379, for example."
    return f"{scheme} needs a Python package that is not installed: pip install 'limits[{scheme.partition('+')[0]}]'."
