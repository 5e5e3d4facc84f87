"""Exact counts beside tables that grow: how many deliveries of a trigger there are in each status, and how many bytes
are kept of its events."""

from collections import Counter
from collections.abc import Iterable, Sequence

from webapp.store.contract import Reader, Tx, among
from webapp.store.months import MonthCount
from webapp.store.table import add_to_counts, drop_counts, most_counted, read_counts

STATUSES = ("waiting", "delivered", "failed")
LOOKED_UP = 1_000
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


def of_month(reader: Reader, rows: Sequence[MonthCount]) -> Counter[str]:
    """What a month holds of the triggers that there are, by the name of each count that it stands in."""
    ids = sorted({row.trigger_id for row in rows if row.trigger_id is not None})
    users: dict[str, str] = {}
    for first in range(0, len(ids), LOOKED_UP):
        listed, params = among(ids[first : first + LOOKED_UP])
        sql = f"SELECT id, external_user_id FROM deployed_triggers WHERE id IN ({listed})"  # noqa: S608
        users.update(reader.tuples(sql, params))
    held: Counter[str] = Counter()
    for row in rows:
        if row.trigger_id in users and row.status == "kept":
            held[_kept_of("trigger", row.trigger_id)] += row.count
            held[_kept_of("user", users[row.trigger_id])] += row.count
        elif row.trigger_id in users:
            held[_name(row.trigger_id, row.status)] += row.count
    return held


def count(reader: Reader, trigger_id: str, statuses: Sequence[str] = STATUSES) -> int:
    """How many deliveries of a trigger have one of ``statuses``."""
    return sum(read_counts(reader, *(_name(trigger_id, status) for status in statuses)).values())


def add_bytes(tx: Tx, trigger_id: str, user_id: str, by: int) -> None:
    """``by`` bytes more are kept of a trigger of the user ``user_id`` (or less, when it is negative)."""
    add_to_counts(tx, [_kept_of("trigger", trigger_id), _kept_of("user", user_id)], by)


def removed_bytes(tx: Tx, where: str, params: dict[str, str]) -> None:
    """Take what is kept of the events ``e`` that ``where`` finds out of the counts; the caller deletes them next."""
    rows = tx.tuples(
        "SELECT d.id, d.external_user_id, SUM(e.kept) FROM events e JOIN deployed_triggers d ON d.id = e.trigger_id "  # noqa: S608
        f"WHERE {where} GROUP BY d.id, d.external_user_id",
        params,
    )
    for trigger_id, user_id, kept in rows:
        add_bytes(tx, trigger_id, user_id, -int(kept))


def kept_bytes(reader: Reader, trigger_id: str, user_id: str) -> tuple[int, int]:
    """How many bytes are kept of a trigger, and of all triggers of its user."""
    of_trigger, of_user = _kept_of("trigger", trigger_id), _kept_of("user", user_id)
    held = read_counts(reader, of_trigger, of_user)
    return held.get(of_trigger, 0), held.get(of_user, 0)


def most_kept(reader: Reader) -> tuple[int, int]:
    """How many bytes are kept of the trigger with the most, and of the user with the most."""
    trigger, user = (most_counted(reader, _kept_of(owner, "")) for owner in ("trigger", "user"))
    return trigger, user


def forget(tx: Tx, trigger_id: str) -> None:
    """Drop the counts of a trigger that is removed next."""
    drop_counts(tx, f"deliveries|{trigger_id}|")
    kept = sum(read_counts(tx, _kept_of("trigger", trigger_id)).values())
    for (user_id,) in tx.tuples("SELECT external_user_id FROM deployed_triggers WHERE id = :id", {"id": trigger_id}):
        add_to_counts(tx, [_kept_of("user", user_id)] if kept else [], -kept)
    drop_counts(tx, _kept_of("trigger", trigger_id))


def forget_user(tx: Tx, user_id: str) -> None:
    """Drop the count of a user who is removed."""
    drop_counts(tx, _kept_of("user", user_id))


def _kept_of(owner: str, owner_id: str) -> str:
    return f"kept|{owner}|{owner_id}"


def _name(trigger_id: str, status: str) -> str:
    return f"deliveries|{trigger_id}|{status}"
