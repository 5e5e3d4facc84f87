"""How many deliveries of a trigger there are in each status: exact counts beside a table that grows."""

from collections import Counter
from collections.abc import Iterable, Sequence

from webapp.store.contract import Reader, Tx
from webapp.store.table import add_to_counts, drop_counts, read_count

STATUSES = ("waiting", "delivered", "failed")
Move = tuple[str | None, str, str]
"""A delivery's trigger, the status it had and the one it has."""


def added(tx: Tx, trigger_id: str | None, status: str, count: int) -> None:
    """``count`` deliveries of a trigger were added (or removed, when it is negative)."""
    if trigger_id is not None and count:
        add_to_counts(tx, [_name(trigger_id, status)], count)


def moved(tx: Tx, moves: Iterable[Move]) -> None:
    """Deliveries went from one status to another."""
    changes: Counter[tuple[str, str]] = Counter()
    for trigger_id, before, after in moves:
        if trigger_id is not None and before != after:
            changes[trigger_id, before] -= 1
            changes[trigger_id, after] += 1
    for (trigger_id, status), change in changes.items():
        added(tx, trigger_id, status, change)


def removed_with(tx: Tx, where: str, params: dict[str, object]) -> None:
    """Take the deliveries that ``where`` finds out of the counts; the caller deletes them next."""
    rows = tx.tuples(
        f"SELECT trigger_id, status, COUNT(*) FROM deliveries WHERE {where} GROUP BY trigger_id, status",  # noqa: S608
        params,
    )
    for trigger_id, status, count in rows:
        added(tx, trigger_id, status, -count)


def count(reader: Reader, trigger_id: str, statuses: Sequence[str] = STATUSES) -> int:
    """How many deliveries of a trigger have one of ``statuses``."""
    return sum(read_count(reader, _name(trigger_id, status)) for status in statuses)


def forget(tx: Tx, trigger_id: str) -> None:
    """Drop the counts of a trigger that is removed."""
    drop_counts(tx, f"deliveries|{trigger_id}|")


def _name(trigger_id: str, status: str) -> str:
    return f"deliveries|{trigger_id}|{status}"
