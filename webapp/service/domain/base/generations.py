"""Generations (table ``generations``): the processes that have had the database open, numbered in their order.

Leases and locks name the generation that holds them, so that those of a dead process can be taken over before they
expire (:mod:`instance.takeover`). On one machine a file lock shows that a generation is alive: the kernel releases it
when the process ends. If several machines share a database, a heartbeat shows it, with a delay.
"""

import logging
import threading
from contextlib import ExitStack

from webapp.errors import Conflict, Unavailable
from webapp.kit.clock import SECOND, Clock
from webapp.service.domain.base.service import Service
from webapp.store.contract import Store, Tx
from webapp.store.lock_files import LifeLock, is_alive
from webapp.store.table import add_to_counts, read_counts

log = logging.getLogger(__name__)
_SEEN = (
    "INSERT INTO generations (n, began_at, seen_at) VALUES (:n, :now, :now) "
    "ON CONFLICT (n) DO UPDATE SET seen_at = excluded.seen_at"
)
HEARTBEAT = 5 * SECOND
MISSED = 12 * SECOND
"""So long without a heartbeat, and a generation counts as dead."""
_RETRY_S = 1.0
_GAP = HEARTBEAT + SECOND
"""More than this between two heartbeats of one's own: the store was away, for the others too."""


class Heartbeat(LifeLock):
    """The life of a process on a shared database: a thread that writes heartbeats, and notes how long the store has
    answered.

    While the store is unavailable, no heartbeat is written. So a process judges others only if its own heartbeats have
    had no gap for longer than others may be silent.
    """

    def __init__(self, store: Store, clock: Clock, number: int) -> None:
        super().__init__(None, number)
        self._store, self._clock = store, clock
        self._steady_since = self._beat_at = clock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End this life: it sends no further heartbeat, even if one still waits for the store."""
        self._stopping.set()
        self._thread.join(HEARTBEAT / SECOND)

    def beat(self) -> None:
        """Say that this generation lives. Raises :class:`Unavailable`."""
        with self._store.write() as tx:
            if self._stopping.is_set():
                return
            now = self._clock()
            tx.run(_SEEN, {"n": self.number, "now": now})
        if now - self._beat_at > _GAP:
            self._steady_since = now
        self._beat_at = now

    def can_judge(self, now: int) -> bool:
        """Whether the store has been available for so long that a silent generation must be dead."""
        return now - self._beat_at <= _GAP and now - self._steady_since >= MISSED + HEARTBEAT

    def _run(self) -> None:
        pause = HEARTBEAT / SECOND
        while not self._stopping.wait(pause):
            pause = HEARTBEAT / SECOND
            try:
                self.beat()
            except Unavailable as error:
                log.log(error.level, "heartbeat: %s", error.message)
                pause = min(pause, _RETRY_S)
            except Exception:
                log.exception("A heartbeat failed.")


def begin(store: Store, clock: Clock) -> LifeLock:
    """Begin a new generation, the latest of all. Its life lock is held before others can know its number."""
    with ExitStack() as undo:
        with store.write() as tx:
            add_to_counts(tx, ["generations"], 1)
            number = sum(read_counts(tx, "generations").values())
            life = Heartbeat(store, clock, number) if store.folder is None else LifeLock(store.folder, number)
            undo.callback(life.end)
            tx.run(_SEEN, {"n": number, "now": clock()})
        undo.pop_all()
    return life


def dead(service: Service) -> list[int]:
    """The generations whose process is dead and whose work has not been taken over, oldest first."""
    others = service.store.tuples("SELECT n, seen_at FROM generations ORDER BY n")
    return [n for n, seen_at in others if n != service.generation and _is_dead(service, n, seen_at)]


def beat(store: Store, clock: Clock, number: int) -> None:
    """Record that a generation is alive; one that was thought dead, since its heartbeats were missing, lives again."""
    with store.write() as tx:
        tx.run(_SEEN, {"n": number, "now": clock()})


def refuse_living(store: Store, clock: Clock) -> None:
    """Raise :class:`Conflict` where a process lives that shares the store with other machines."""
    if store.folder is None and store.one(
        "SELECT 1 FROM generations WHERE seen_at > :limit", {"limit": clock() - MISSED}
    ):
        raise Conflict("Patchbay is running; stop it on every machine first.")


def bury(tx: Tx, service: Service, number: int) -> bool:
    """Delete a dead generation, in the transaction that takes over its work.

    Return False if another process has done so, or a heartbeat was written since.
    """
    seen = tx.one("SELECT seen_at FROM generations WHERE n = :n", {"n": number})
    return seen is not None and _is_dead(service, number, seen["seen_at"]) and forget(tx, number)


def forget(tx: Tx, number: int) -> bool:
    """Delete a generation, alive or dead; return False if it was deleted before."""
    return bool(tx.run("DELETE FROM generations WHERE n = :n", {"n": number}))


def _is_dead(service: Service, number: int, seen_at: int) -> bool:
    if service.store.folder is not None:
        return not is_alive(service.store.folder, number)
    now = service.clock()
    return isinstance(service.life, Heartbeat) and service.life.can_judge(now) and now - seen_at >= MISSED
