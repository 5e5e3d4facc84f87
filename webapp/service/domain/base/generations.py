"""Generations (table ``generations``): the lives of the processes that have the database open, numbered in their order.

Leases and locks name the generation that holds them, so that those of a dead one need not run out
(:mod:`instance.takeover`). On one machine a lock on a file proves that a generation lives: the kernel gives it back
with the process, however that died. Where several machines share a database, a heartbeat tells, a little later.
"""

from webapp.kit.clock import SECOND, Clock
from webapp.service.domain.base.service import Service
from webapp.store.contract import Store, Tx
from webapp.store.presence import SignOfLife, lives
from webapp.store.table import add_to_counts, read_count

HEARTBEAT = 5 * SECOND
MISSED = 12 * SECOND
"""So long without a heartbeat, and a generation counts as dead."""


def begin(store: Store, clock: Clock) -> SignOfLife:
    """The sign of a new generation, the latest of all. It stands before anybody can know the number."""
    with store.write() as tx:
        add_to_counts(tx, ["generations"], 1)
        sign = SignOfLife(store.folder, read_count(tx, "generations"))
        values = {"n": sign.number, "now": clock()}
        tx.run("INSERT INTO generations (n, began_at, seen_at) VALUES (:n, :now, :now)", values)
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


def beat(service: Service) -> None:
    """Say that this process is alive, where others cannot see it by themselves."""
    if service.store.folder is None:
        with service.store.write() as tx:
            tx.run(
                "UPDATE generations SET seen_at = :now WHERE n = :n",
                {"now": service.clock(), "n": service.generation},
            )


def bury(tx: Tx, number: int) -> bool:
    """Forget a generation, in the transaction that takes its work over; False when somebody has done so before."""
    return bool(tx.run("DELETE FROM generations WHERE n = :n", {"n": number}))
