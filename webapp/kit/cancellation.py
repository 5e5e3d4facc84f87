"""Work that nobody may want any more: whoever does it looks, or is stopped, while another thread asks for that."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancellation:
    """Whether work is wanted no more. Threads may share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: list[Callable[[], None]] = []
        self._requested = False

    @property
    def is_requested(self) -> bool:
        """Whether somebody wants it to end."""
        return self._requested

    def request(self) -> None:
        """End the work: what is under way is stopped, and nothing more is begun."""
        with self._lock:
            self._requested = True
            stops = tuple(self._stops)
        for stop in stops:
            stop()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call ``stop`` where the work is to end before the block does, at once where it was before it."""
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
"""What ends the work of this thread, within a block of :func:`cancelling`."""


@contextmanager
def cancelling(cancellation: Cancellation) -> Iterator[None]:
    """Whatever this thread does within the block ends by ``cancellation``."""
    token = CURRENT.set(cancellation)
    try:
        yield
    finally:
        CURRENT.reset(token)
