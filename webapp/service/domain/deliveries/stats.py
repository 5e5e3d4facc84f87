"""How deliveries have gone: hour by hour in the last day, for one trigger or for several, and of late at each webhook.

However many deliveries there are, an index holds all that is read of a day, and of a webhook only its newest are looked
at.
"""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from webapp.kit.clock import HOUR
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import counts
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.store.contract import Reader, among

HOURS = 24
NEWEST = 100


def days(service: Service, trigger_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What became of the deliveries of the last 24 hours, by trigger: hour by hour in UTC; the last one is running."""
    first = service.clock() // HOUR * HOUR - (HOURS - 1) * HOUR
    those, values = among(trigger_ids)
    rows = service.store.tuples(
        "SELECT trigger_id, status, (created_at - :first) / :hour AS hour, COUNT(*) FROM deliveries "  # noqa: S608
        f"WHERE trigger_id IN ({those}) AND status IN ('waiting', 'delivered', 'failed') AND created_at >= :first "
        "GROUP BY trigger_id, status, hour",
        {"first": first, "hour": HOUR, **values},
    )
    hours = {
        trigger_id: [{"start": first + n * HOUR, **dict.fromkeys(counts.STATUSES, 0)} for n in range(HOURS)]
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


def of_late(reader: Reader, trigger_id: str, webhooks: Sequence[Endpoint]) -> dict[str, dict[str, Any]]:
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
    """The same of an endpoint, whatever is sent there."""
    rows = reader.tuples(
        "SELECT last_at, took_ms FROM deliveries WHERE endpoint_id = :id AND status = 'delivered' "
        "ORDER BY last_at DESC LIMIT :newest",
        {"id": endpoint.id, "newest": NEWEST},
    )
    return _facts(reader, endpoint, [(at or 0, took or 0) for at, took in rows])


def last_success(reader: Reader, endpoint: Endpoint) -> int | None:
    """When something arrived at an endpoint last, whatever it was."""
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
    return {status: sum(hour[status] for hour in hours) for status in counts.STATUSES}


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
    """When what waits for a webhook is tried next; what is on its way now counts as due when it would be given up."""
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
