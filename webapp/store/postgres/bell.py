"""Waking the workers of other machines by NOTIFY: who rings waits for nothing, who listens needs no look at the clock.

A bell that is not heard costs a second, since workers look by themselves that often: the connection was lost, or leads
through a pooler that does not keep it for us.
"""

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from webapp.errors import Unavailable
from webapp.store.postgres.connections import Pool, connect

CHANNEL = "patchbay_work"
PAUSE_S = 0.02
AFTER_TROUBLE_S = 1.0
_LOOK_S = 0.5
log = logging.getLogger(__name__)


class Bell:
    """The bell of one process. Several rings within :data:`PAUSE_S` are one."""

    def __init__(self, pool: Pool, url: str) -> None:
        self._pool, self._url = pool, url
        self._name = secrets.token_hex(4)
        self._rung, self._stopping = threading.Event(), threading.Event()
        self._ringer: threading.Thread | None = None
        self._lock = threading.Lock()

    def ring(self) -> None:
        """Wake whoever listens in another process."""
        self._rung.set()
        if self._ringer is None:
            with self._lock:
                if self._ringer is None and not self._stopping.is_set():
                    self._ringer = threading.Thread(target=self._ring, name="bell", daemon=True)
                    self._ringer.start()

    @contextmanager
    def listening(self, heard: Callable[[], None]) -> Iterator[None]:
        """Within the block, call ``heard`` when another process has rung, and once a lost connection stands again.

        A pooler would not keep a connection for that: nothing is heard through one.
        """
        if self._pool.is_pooled:
            yield
            return
        ended = threading.Event()
        listener = threading.Thread(target=self._listen, args=(heard, ended), name="listener", daemon=True)
        listener.start()
        try:
            yield
        finally:
            ended.set()
            listener.join(2 * _LOOK_S)

    def close(self) -> None:
        """Ring no more."""
        with self._lock:
            self._stopping.set()
        self._rung.set()
        if self._ringer is not None:
            self._ringer.join(2 * _LOOK_S)

    def _ring(self) -> None:
        while self._rung.wait() and not self._stopping.is_set():
            self._rung.clear()
            try:
                self._pool.read(lambda session: session.command(f"NOTIFY {CHANNEL}, '{self._name}'"))
            except (psycopg.Error, Unavailable) as error:
                log.debug("The bell was not rung: %s", error)
            self._stopping.wait(PAUSE_S)

    def _listen(self, heard: Callable[[], None], ended: threading.Event) -> None:
        while not ended.is_set():
            try:
                with connect(self._url) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    heard()
                    while not ended.is_set():
                        notes = [note.payload for note in connection.notifies(timeout=_LOOK_S, stop_after=1)]
                        if any(payload != self._name for payload in notes):
                            heard()
            except psycopg.Error as error:
                log.debug("Nothing is heard of other processes for a moment: %s", error)
                ended.wait(AFTER_TROUBLE_S)
