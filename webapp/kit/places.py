"""Threads that take turns at computing, and leave off where they wait.

Python computes in one thread at a time. Where many are ready to, they hand that over at every statement of the database
and every lock, which costs more than what they do. So those that answer requests have *places* for few of them
(:mod:`webapp.cli.serving.dispatching`), and whoever waits leaves its place meanwhile: ``with HERE.away:`` around what
waits for a network, another process or a moment. All other threads have no place, and just wait.
"""

import threading
from contextlib import AbstractContextManager, nullcontext


class Place:
    """Where one thread waits until another calls it; this one stands for a thread that takes turns with nobody.

    A thread that is away may wait for something else meanwhile: it is back when it has come back from all of that.
    """

    _away = 0

    def __init__(self) -> None:
        self._called = threading.Lock()
        self._called.acquire()

    @property
    def crowded(self) -> bool:
        """Whether other threads are about to begin something."""
        return False

    def leave(self) -> None:
        """Let others compute, until the thread is called or comes back."""
        self._away += 1
        if self._away == 1:
            self._let_on()

    def wait(self, seconds: float = -1) -> bool:
        """Wait until the thread, which has left, is called; False where that takes more than so many ``seconds``."""
        is_called = self._called.acquire(timeout=seconds)
        self._away -= is_called
        return is_called

    def call(self) -> None:
        """Let the thread go on with computing: once for each :meth:`wait`, or before it."""
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
        """Nobody waits for this thread."""

    def _go_on(self) -> None:
        """Nor does it for others."""


class _Here(threading.local):
    place: Place | None = None
    away: AbstractContextManager[None] = nullcontext()


HERE = _Here()
"""The place of this thread, if it has one, and the block in which it is away from it."""
