"""Statistics of deliveries: exact counts by status, hourly counts of the last day, and recent results of each
webhook.

Counts of growing tables are updated in the transactions that change them: the number of a trigger's deliveries in each
status, and the number of stored bytes of its events. However many deliveries there are, an index covers all that is
read of a day, and of a webhook only its newest are read.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from webapp.kit.clock import HOUR
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.store.contract import Reader, Tx, among
from webapp.store.months import MonthCount
from webapp.store.table import add_to_counts, drop_counts, most_counted, read_counts

STATUSES = ("waiting", "delivered", "failed")
LOOKED_UP = 1_000
Move = tuple[str | None, str, str]
"""A delivery's trigger, its status before and its status now."""
HOURS = 24
NEWEST = 100


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
    """The counts of a month, for triggers that exist, by the name of the counter."""
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
    """The number of deliveries of a trigger with one of ``statuses``."""
    return sum(read_counts(reader, *(_name(trigger_id, status) for status in statuses)).values())


def add_bytes(tx: Tx, trigger_id: str, user_id: str, by: int) -> None:
    """Add ``by`` to the stored bytes of a trigger of the user ``user_id``; ``by`` may be negative."""
    add_to_counts(tx, [_kept_of("trigger", trigger_id), _kept_of("user", user_id)], by)


def removed_bytes(tx: Tx, where: str, params: dict[str, str]) -> None:
    """Subtract the events ``e`` that ``where`` finds from the stored bytes; the caller deletes them next."""
    rows = tx.tuples(
        "SELECT d.id, d.external_user_id, SUM(e.kept) FROM events e JOIN deployed_triggers d ON d.id = e.trigger_id "  # noqa: S608
        f"WHERE {where} GROUP BY d.id, d.external_user_id",
        params,
    )
    for trigger_id, user_id, kept in rows:
        add_bytes(tx, trigger_id, user_id, -int(kept))


def kept_bytes(reader: Reader, trigger_id: str, user_id: str) -> tuple[int, int]:
    """The stored bytes of a trigger, and of all triggers of its user."""
    of_trigger, of_user = _kept_of("trigger", trigger_id), _kept_of("user", user_id)
    held = read_counts(reader, of_trigger, of_user)
    return held.get(of_trigger, 0), held.get(of_user, 0)


def most_kept(reader: Reader) -> tuple[int, int]:
    """The stored bytes of the trigger with the most, and of the user with the most."""
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
    """Delete the count of a removed user."""
    drop_counts(tx, _kept_of("user", user_id))


def _kept_of(owner: str, owner_id: str) -> str:
    return f"kept|{owner}|{owner_id}"


def _name(trigger_id: str, status: str) -> str:
    return f"deliveries|{trigger_id}|{status}"


def days(service: Service, trigger_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The outcomes of the deliveries of the last 24 hours, by trigger and hour (UTC); the last hour is not over."""
    first = service.clock() // HOUR * HOUR - (HOURS - 1) * HOUR
    those, values = among(trigger_ids)
    rows = service.store.tuples(
        "SELECT trigger_id, status, (created_at - :first) / :hour AS hour, COUNT(*) FROM deliveries "  # noqa: S608
        f"WHERE trigger_id IN ({those}) AND status IN ('waiting', 'delivered', 'failed') AND created_at >= :first "
        "GROUP BY trigger_id, status, hour",
        {"first": first, "hour": HOUR, **values},
    )
    hours = {
        trigger_id: [{"start": first + n * HOUR, **dict.fromkeys(STATUSES, 0)} for n in range(HOURS)]
        for trigger_id in trigger_ids
    }
    for trigger_id, status, hour, count in rows:
        hours[trigger_id][min(int(hour), HOURS - 1)][status] += count
    return {trigger_id: {"hours": of_one, **_totals(of_one)} for trigger_id, of_one in hours.items()}


def day(service: Service, trigger_id: str) -> dict[str, Any]:
    """The same of one trigger, with how many events there were, when the last one was, and why the last delivery
    failed."""
    (of_day,) = days(service, [trigger_id]).values()
    seen = service.store.one(
        "SELECT COUNT(*) AS events, (SELECT MAX(at) FROM events WHERE trigger_id = :trigger) AS last_event_at "
        "FROM events WHERE trigger_id = :trigger AND at >= :first",
        {"trigger": trigger_id, "first": of_day["hours"][0]["start"]},
    )
    return {**of_day, **(seen or {}), "last_error": _last_error(service.store, trigger_id)}


def of_webhooks(reader: Reader, trigger_id: str, webhooks: Sequence[Endpoint]) -> dict[str, dict[str, Any]]:
    """For each of a trigger's webhooks: when something arrived last, how long that usually takes, and the next try."""
    newest = _arrived(reader, trigger_id)
    facts = {}
    for webhook in webhooks:
        own = newest.get(webhook.id)
        if own is None and webhook.failing_since is not None:
            own = _arrived(reader, trigger_id, webhook.failing_since).get(webhook.id)
        facts[webhook.id] = _facts(reader, webhook, own or ())
    return facts


def of_endpoint(reader: Reader, endpoint: Endpoint) -> dict[str, Any]:
    """The same for an endpoint."""
    rows = reader.tuples(
        "SELECT last_at, took_ms FROM deliveries WHERE endpoint_id = :id AND status = 'delivered' "
        "ORDER BY last_at DESC LIMIT :newest",
        {"id": endpoint.id, "newest": NEWEST},
    )
    return _facts(reader, endpoint, [(at or 0, took or 0) for at, took in rows])


def last_success(reader: Reader, endpoint: Endpoint) -> int | None:
    """The time of the last successful delivery to an endpoint."""
    ((at,),) = reader.tuples(
        "SELECT MAX(last_at) FROM deliveries WHERE endpoint_id = :id AND status = 'delivered'", {"id": endpoint.id}
    )
    return None if at is None else int(at)


def _facts(reader: Reader, webhook: Endpoint, arrived: Sequence[tuple[int, int]]) -> dict[str, Any]:
    return {
        "last_success_at": max(at for at, _ in arrived) if arrived else None,
        "median_ms": round(statistics.median(took for _, took in arrived)) if arrived else None,
        "next_attempt_at": _next_try(reader, webhook.id),
    }


def _totals(hours: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {status: sum(hour[status] for hour in hours) for status in STATUSES}


def _arrived(reader: Reader, trigger_id: str, before: int | None = None) -> Mapping[str, list[tuple[int, int]]]:
    """When, and after how many milliseconds, the newest deliveries arrived that were made ``before``, by webhook."""
    rows = reader.tuples(
        "SELECT endpoint_id, last_at, took_ms FROM deliveries WHERE trigger_id = :trigger AND status = 'delivered' "
        "AND created_at <= :before ORDER BY created_at DESC, id DESC LIMIT :newest",
        {"trigger": trigger_id, "before": 1 << 62 if before is None else before, "newest": NEWEST},
    )
    by_webhook = defaultdict(list)
    for webhook_id, at, took in rows:
        by_webhook[webhook_id].append((at or 0, took or 0))
    return by_webhook


def _next_try(reader: Reader, webhook_id: str) -> int | None:
    """The time of the next attempt for a webhook; a delivery in flight counts as due when it would time out."""
    ((at,),) = reader.tuples(
        "SELECT MIN(next_at) FROM deliveries WHERE endpoint_id = :id AND next_at IS NOT NULL", {"id": webhook_id}
    )
    return None if at is None else int(at)


def _last_error(reader: Reader, trigger_id: str) -> str | None:
    """Why the newest delivery that was tried has not succeeded; None when it has."""
    row = reader.one(
        "SELECT status, last_error FROM deliveries WHERE trigger_id = :trigger AND (status <> 'waiting' OR tries > 0) "
        "ORDER BY created_at DESC, id DESC LIMIT 1",
        {"trigger": trigger_id},
    )
    return row["last_error"] if row else None
