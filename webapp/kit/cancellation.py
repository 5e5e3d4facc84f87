"""Cancellation of work in another thread: the work checks for a request, or registers a function that stops it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancellation:
    """A request to cancel work. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: list[Callable[[], None]] = []
        self._requested = False

    @property
    def is_requested(self) -> bool:
        """Whether the work should end."""
        return self._requested

    def request(self) -> None:
        """Request that the work end, and call the registered stop functions."""
        with self._lock:
            self._requested = True
            stops = tuple(self._stops)
        for stop in stops:
            stop()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Within the block, call ``stop`` when the work is cancelled; at once if it was cancelled before."""
        with self._lock:
            self._stops.append(stop)
            is_late = self._requested
        try:
            if is_late:
                stop()
            yield
        finally:
            with self._lock:
                self._stops.remove(stop)


CURRENT: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)
"""The cancellation of this thread's work, within a block of :func:`cancelling`."""


@contextmanager
def cancelling(cancellation: Cancellation) -> Iterator[None]:
    """Within the block, this thread's work can be cancelled with ``cancellation``."""
    token = CURRENT.set(cancellation)
    try:
        yield
    finally:
        CURRENT.reset(token)
