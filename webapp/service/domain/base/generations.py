"""Generations (table ``generations``): the lives of the processes that have the database open, numbered in their order.

Leases and locks name the generation that holds them, so that those of a dead one need not run out
(:mod:`instance.takeover`). On one machine a lock on a file proves that a generation lives: the kernel gives it back
with the process, however that died. Where several machines share a database, a heartbeat tells, a little later.
"""

import logging
import threading

from webapp.errors import Conflict, Unavailable
from webapp.kit.clock import SECOND, Clock
from webapp.service.domain.base.service import Service
from webapp.store.contract import Store, Tx
from webapp.store.presence import SignOfLife, lives
from webapp.store.table import add_to_counts, read_count

log = logging.getLogger(__name__)
_SEEN = (
    "INSERT INTO generations (n, began_at, seen_at) VALUES (:n, :now, :now) "
    "ON CONFLICT (n) DO UPDATE SET seen_at = excluded.seen_at"
)
HEARTBEAT = 5 * SECOND
MISSED = 12 * SECOND
"""So long without a heartbeat, and a generation counts as dead."""


class Pulse(SignOfLife):
    """A sign for other machines: a heartbeat of a thread of its own."""

    def __init__(self, store: Store, clock: Clock, number: int) -> None:
        super().__init__(None, number)
        self._store, self._clock = store, clock
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """This life is over."""
        self._stopping.set()
        self._thread.join(HEARTBEAT / SECOND)

    def _run(self) -> None:
        while not self._stopping.wait(HEARTBEAT / SECOND):
            try:
                beat(self._store, self._clock, self.number)
            except Unavailable as error:
                log.log(error.level, "heartbeat: %s", error.message)
            except Exception:
                log.exception("A heartbeat failed.")


def begin(store: Store, clock: Clock) -> SignOfLife:
    """The sign of a new generation, the latest of all. It stands before anybody can know the number."""
    with store.write() as tx:
        add_to_counts(tx, ["generations"], 1)
        number = read_count(tx, "generations")
        sign = Pulse(store, clock, number) if store.folder is None else SignOfLife(store.folder, number)
        tx.run(_SEEN, {"n": number, "now": clock()})
    return sign


def dead(service: Service) -> list[int]:
    """The generations whose process is dead, and whose work nobody has taken over yet; oldest first."""
    others = service.store.tuples("SELECT n, seen_at FROM generations ORDER BY n")
    folder, now = service.store.folder, service.clock()
    return [
        n
        for n, seen_at in others
        if n != service.generation and not (lives(folder, n) if folder is not None else now - seen_at < MISSED)
    ]


def beat(store: Store, clock: Clock, number: int) -> None:
    """Say that this generation lives; one that was thought dead, since it could not be heard, lives again."""
    with store.write() as tx:
        tx.run(_SEEN, {"n": number, "now": clock()})


def refuse_living(store: Store, clock: Clock) -> None:
    """Raise :class:`Conflict` where a process lives that shares the store with other machines."""
    if store.folder is None and store.one(
        "SELECT 1 FROM generations WHERE seen_at > :limit", {"limit": clock() - MISSED}
    ):
        raise Conflict("Patchbay is running; stop it on every machine first.")


def bury(tx: Tx, number: int) -> bool:
    """Forget a generation, in the transaction that takes its work over; False when somebody has done so before."""
    return bool(tx.run("DELETE FROM generations WHERE n = :n", {"n": number}))
