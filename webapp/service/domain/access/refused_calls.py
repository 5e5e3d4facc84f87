"""Calls beyond a rate limit: how many in the last hour, and who made them. This module owns the table
``refused_calls``.

They are collected in memory and written a moment later; a process that is killed loses only those.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from webapp.audit import Actor
from webapp.kit.clock import HOUR, MINUTE
from webapp.service.domain.base.service import Service
from webapp.service.domain.base.write_buffer import WriteBuffer
from webapp.store.contract import Row, among

REMEMBERED = HOUR
_SLOT = 5 * MINUTE


@dataclass(frozen=True, slots=True)
class RefusedCalls:
    """The number of refused calls; ``actor`` made all of them, or is empty if there were several."""

    count: int = 0
    actor: Actor | None = None


class _Slot(NamedTuple):
    counted_under: str
    at: int
    actor: Actor


def note(service: Service, counted_under: str, actor: Actor) -> None:
    """A call of ``actor``, which counts under that key, was refused."""
    _NOTED.note(service, _Slot(counted_under, service.clock() // _SLOT * _SLOT, actor), 1)


def lately(service: Service, counted_under: Sequence[str]) -> dict[str, RefusedCalls]:
    """Those of the last hour, to five minutes, for each of the keys ``counted_under``."""
    flush(service)
    those, params = among(counted_under)
    rows = service.store.all(
        "SELECT counted_under, SUM(n) AS n, COUNT(DISTINCT actor_kind || ' ' || actor) AS actors, "  # noqa: S608
        "MIN(actor_kind) AS kind, MIN(actor) AS actor FROM refused_calls "
        f"WHERE counted_under IN ({those}) AND at > :since GROUP BY counted_under",
        {**params, "since": service.clock() - REMEMBERED},
    )
    refused = {row["counted_under"]: _of(row) for row in rows}
    return {key: refused.get(key, RefusedCalls()) for key in counted_under}


def _of(row: Row) -> RefusedCalls:
    return RefusedCalls(int(row["n"]), Actor(row["kind"], row["actor"]) if row["actors"] == 1 else None)


def purge(service: Service) -> int:
    """Forget those of more than an hour ago; how many rows there were."""
    limit = {"limit": service.clock() - REMEMBERED}
    if service.store.one("SELECT 1 FROM refused_calls WHERE at <= :limit LIMIT 1", limit) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("DELETE FROM refused_calls WHERE at <= :limit", limit)


def _write(service: Service, counts: Mapping[_Slot, int]) -> None:
    with service.store.write() as tx:
        for slot, n in counts.items():
            tx.run(
                "INSERT INTO refused_calls (counted_under, at, actor_kind, actor, n) "
                "VALUES (:key, :at, :kind, :actor, :n) "
                "ON CONFLICT (counted_under, at, actor_kind, actor) DO UPDATE SET n = refused_calls.n + excluded.n",
                {"key": slot.counted_under, "at": slot.at, "kind": slot.actor.kind, "actor": slot.actor.id, "n": n},
            )


_NOTED = WriteBuffer[_Slot, int](_write, operator.add)
flush = _NOTED.flush
