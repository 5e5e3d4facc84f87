"""Threads that take turns at computing, and let others compute while they wait.

Python runs one thread at a time. Where many are ready to run, they hand over to each other at every database statement
and every lock, which costs more than the statements. So the threads that answer requests share a few *places*
(:mod:`webapp.cli.serving.dispatcher`), and each leaves its place while it waits: ``with HERE.away:`` around what waits
for a network, another process or a moment. All other threads have no place, and just wait.
"""

import threading
from contextlib import AbstractContextManager, nullcontext


class Place:
    """Where one thread waits until another calls it. This class is for a thread that takes turns with no other.

    Leaving may be nested: a thread that has left twice computes again when it has come back twice.
    """

    _away = 0

    def __init__(self) -> None:
        self._called = threading.Lock()
        self._called.acquire()

    @property
    def crowded(self) -> bool:
        """Whether requests wait that no thread has begun."""
        return False

    def leave(self) -> None:
        """Let other threads compute until this one is called or comes back."""
        self._away += 1
        if self._away == 1:
            self._let_on()

    def wait(self, seconds: float = -1) -> bool:
        """Wait until the thread, which has left, is called; return False where that takes more than ``seconds``."""
        is_called = self._called.acquire(timeout=seconds)
        self._away -= is_called
        return is_called

    def call(self) -> None:
        """Let the thread compute again: once for each :meth:`wait`, or before it."""
        self._called.release()

    def come_back(self) -> None:
        """Compute again without being called."""
        self._away -= 1
        if not self._away:
            self._go_on()

    def __enter__(self) -> None:
        self.leave()

    def __exit__(self, *_: object) -> None:
        self.come_back()

    def _let_on(self) -> None:
        """Give the place to another thread; here there is none."""

    def _go_on(self) -> None:
        """Wait for a place; here none is needed."""


class _Here(threading.local):
    place: Place | None = None
    away: AbstractContextManager[None] = nullcontext()


HERE = _Here()
"""The place of this thread, if it has one, and the context in which the thread is away from it."""
