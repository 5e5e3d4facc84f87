"""Slots for threads that compute: a thread releases its slot while it waits.

Python runs one thread at a time. If many are ready to run, they switch at every database statement and every lock,
which costs more than the statements. So the threads that answer requests share a few slots
(:mod:`webapp.cli.serving.dispatcher`), and code that waits for a network, another process or a moment does so in
``with this_thread.waiting:``, which releases the thread's slot and reacquires it. Other threads have no slot, and for
them the block does nothing.
"""

import threading
from contextlib import AbstractContextManager, nullcontext


class Slot:
    """The slot of one thread, and where it waits until another thread notifies it.

    Releasing may be nested: the slot is reacquired with the outermost block. This class is for a thread that shares
    slots with no other; the dispatcher derives that of its threads.
    """

    _depth = 0

    def __init__(self) -> None:
        self._notified = threading.Lock()
        self._notified.acquire()

    @property
    def has_waiting_requests(self) -> bool:
        """Whether there are requests that no thread has begun."""
        return False

    def release(self) -> None:
        """Let other threads compute until this one is notified or reacquires its slot."""
        self._depth += 1
        if self._depth == 1:
            self._on_release()

    def wait(self, seconds: float = -1) -> bool:
        """Wait, with the slot released, until notified. Return False if that takes more than ``seconds``."""
        is_notified = self._notified.acquire(timeout=seconds)
        self._depth -= is_notified
        return is_notified

    def notify(self) -> None:
        """Let the thread compute again: once for each :meth:`wait`, during or before it."""
        self._notified.release()

    def reacquire(self) -> None:
        """Compute again without a notification."""
        self._depth -= 1
        if not self._depth:
            self._on_reacquire()

    def __enter__(self) -> None:
        self.release()

    def __exit__(self, *_: object) -> None:
        self.reacquire()

    def _on_release(self) -> None:
        """Give the slot to another thread."""

    def _on_reacquire(self) -> None:
        """Wait until the slot is free again."""


class _ThisThread(threading.local):
    slot: Slot | None = None
    waiting: AbstractContextManager[None] = nullcontext()


this_thread = _ThisThread()
"""The ``slot`` of the calling thread, if it has one, and ``waiting``, the context in which it is released."""
