"""One change of a trigger at a time: whoever changes it holds its turn while hooks run, and no tick is claimed."""

from collections.abc import Iterator
from contextlib import contextmanager

from webapp.errors import Conflict, NotFound
from webapp.kit.clock import MINUTE
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers.deployed_triggers import ABSENT, DeployedTrigger

BUSY = 5 * MINUTE


@contextmanager
def taken(service: Service, trigger: DeployedTrigger, *, by_force: bool = False) -> Iterator[DeployedTrigger]:
    """Hold the turn of ``trigger``, which is given as it stands now; runs that are under way are fenced off.

    Raises :class:`Conflict` while somebody else holds it, but ``by_force``; :class:`NotFound` when it is gone.
    """
    now = service.clock()
    free = "" if by_force else " AND busy_until NOT BETWEEN :now + 1 AND :now + :busy"
    with service.store.write() as tx:
        row = tx.one(
            "UPDATE deployed_triggers SET turn = turn + 1, lease_until = 0, busy_until = :now + :busy "  # noqa: S608
            f"WHERE id = :id AND deployed = 1{free} RETURNING *",
            {"id": trigger.id, "now": now, "busy": BUSY},
        )
        there = row or tx.one("SELECT id FROM deployed_triggers WHERE id = :id", {"id": trigger.id})
    if there is None:
        raise NotFound(ABSENT)
    if row is None:
        raise Conflict("This trigger is being changed just now; try again in a moment.")
    current = deployed_triggers.from_row(row)
    try:
        yield current
    finally:
        with service.store.write() as tx:
            tx.run(
                # Not by the turn: who is switched off meanwhile has the next one.
                "UPDATE deployed_triggers SET busy_until = 0 WHERE id = :id AND busy_until = :until",
                {"id": current.id, "until": row["busy_until"]},
            )
