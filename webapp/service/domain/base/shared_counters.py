"""Counters in memory that the processes of one machine share: fixed windows, counted by whichever process is called.

Whoever forks the processes makes the memory before (:func:`create`) and names it in the settings by its address. It
ends with the last of them. A count takes a few microseconds, less than any storage elsewhere.

A window is a slot of 32 bytes in one of many buckets, which its key chooses, by a digest with a secret of this memory:
clients, who may choose keys, cannot tell which ones meet in a bucket. Its bucket is locked by the kernel while
it is counted, so that a process which is killed leaves no lock behind. In a full bucket a new window takes the place of
the one that has counted least; that takes some hundred thousand windows at once.
"""

import fcntl
import hashlib
import mmap
import os
import secrets
import struct
import threading

from webapp.kit.clock import SECOND, Clock

SCHEME = "shared://"
BUCKETS, SLOTS = 1024, 128
_SLOT = struct.Struct("=16sqq")  # the key's digest, the count, the end in epoch milliseconds
_STATE = struct.Struct("=qq")
_KEY = 16
_BUCKET = SLOTS * _SLOT.size
_SECRET_AT, _SECRET = BUCKETS * _BUCKET, 32  # behind the buckets
_SIZE = _SECRET_AT + _SECRET


def create() -> str:
    """Make the memory: its address, for this process and those that it forks."""
    descriptor = os.memfd_create("patchbay-limits")
    os.ftruncate(descriptor, _SIZE)
    os.pwrite(descriptor, secrets.token_bytes(_SECRET), _SECRET_AT)
    return f"{SCHEME}{descriptor}"


class SharedCounters:
    """Counters in the memory at ``address``. Threads may share one."""

    def __init__(self, address: str, clock: Clock) -> None:
        self._descriptor, self._clock = int(address.removeprefix(SCHEME)), clock
        self._memory = mmap.mmap(self._descriptor, _SIZE)
        self._secret = self._memory[_SECRET_AT:_SIZE]
        self._lock = threading.Lock()  # the kernel's lock is one for all threads of a process

    def hit(self, key: str, expiry: int, amount: int = 1) -> tuple[int, int]:
        """Count ``amount``, perhaps none: the count in the window of ``expiry`` seconds, and when it ends (epoch
        milliseconds)."""
        digest = self._digest(key)
        bucket = int.from_bytes(digest[:4], "big") % BUCKETS
        with self._lock:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX, 1, bucket)
            try:
                return self._count(digest, bucket * _BUCKET, expiry, amount)
            finally:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, bucket)

    def _digest(self, key: str) -> bytes:
        """What stands for ``key`` in this memory alone; its first bytes choose the bucket."""
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_KEY, key=self._secret).digest()

    def _count(self, digest: bytes, begin: int, expiry: int, amount: int) -> tuple[int, int]:
        now, place = self._clock(), self._find(digest, begin)
        count, end = (0, 0) if place is None else _STATE.unpack_from(self._memory, place + _KEY)
        if not now < end <= now + expiry * SECOND:  # over, or the clock was put back
            count, end = 0, now + expiry * SECOND
        if amount:
            place = self._vacate(begin, now) if place is None else place
            _SLOT.pack_into(self._memory, place, digest, count + amount, end)
        return count + amount, end

    def _find(self, digest: bytes, begin: int) -> int | None:
        """Where the window of that digest stands in the bucket that begins at ``begin``."""
        place = self._memory.find(digest, begin, begin + _BUCKET)
        while place >= 0 and (place - begin) % _SLOT.size:
            place = self._memory.find(digest, place + 1, begin + _BUCKET)
        return place if place >= 0 else None

    def _vacate(self, begin: int, now: int) -> int:
        """The slot of the bucket for a new window: one that is over, else the one that counted least."""
        windows = list(_SLOT.iter_unpack(self._memory[begin : begin + _BUCKET]))
        number = min(range(SLOTS), key=lambda slot: (windows[slot][2] > now, windows[slot][1], windows[slot][2]))
        return begin + number * _SLOT.size
