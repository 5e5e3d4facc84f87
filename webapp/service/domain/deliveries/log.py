"""The log of deliveries for the owner of a trigger: the list, one with its request and responses, and sending again.

Only the host of an address is shown, since more people can read a log than may know the rest. A delivery that is sent
again has the same event with the same id, is signed with the current key, and restarts the schedule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit import cursors
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import deliveries, endpoints, events, stats
from webapp.service.domain.projects.log_entries import USER_NAME, LogEntry, LogRow, LogSource, Status
from webapp.store.contract import Reader, Row

_SELECT = (
    "SELECT d.*, p.masked_url AS url, e.summary FROM deliveries d "
    "JOIN events e ON e.id = d.event_id JOIN endpoints p ON p.id = d.endpoint_id"
)
WHICH = ("failed", "all")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which deliveries of a trigger: in one status, of one event, made in a time (ms, both ends included)."""

    status: str | None = None
    since: int | None = None
    until: int | None = None
    event_id: str | None = None


def page(reader: Reader, trigger_id: str, filters: Filter, window: cursors.Window) -> cursors.Page[Row]:
    """Deliveries of a trigger, newest first. Raises :class:`Invalid`, :class:`webapp.kit.cursors.BadCursor`."""
    _check_status(filters.status)
    where, params = _where_of(trigger_id, filters)
    mark = cursors.fingerprint("deliveries", where, params)
    plan = cursors.keyset(window, mark, ("d.created_at", "d.id"), descending=True)
    rows = reader.all(
        f"{_SELECT} WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",
        {**params, **plan.params, "limit": plan.limit},
    )
    total = _count(reader, trigger_id, filters)
    return cursors.page(rows, window, plan, mark, lambda row: (row["created_at"], row["id"]), total)


def get(reader: Reader, trigger_id: str, delivery_id: str) -> Row:
    """One delivery of a trigger. Raises :class:`NotFound`."""
    named = {"id": delivery_id, "trigger": trigger_id}
    row = reader.one(f"{_SELECT} WHERE d.id = :id AND d.trigger_id = :trigger", named)
    if row is None:
        raise NotFound("There is no such delivery.")
    return row


def to_json(row: Row) -> dict[str, Any]:
    """A delivery in a list. While it is in flight, it has no next time."""
    waits = row["status"] == "waiting" and row["lease_until"] == 0
    return {
        "id": row["id"],
        "event_id": row["event_id"],
        "webhook_id": row["endpoint_id"],
        "url": row["url"],
        "status": row["status"],
        "attempt": row["attempt"],
        "created_at": row["created_at"],
        "next_attempt_at": row["next_at"] if waits else None,
        "put_off": waits and row["next_at"] is None,
        "last_attempt_at": row["last_at"],
        "response_status": row["last_status"],
        "error": row["last_error"],
        "took_ms": row["took_ms"],
        "summary": row["summary"],
    }


def details(service: Service, trigger_id: str, delivery_id: str) -> dict[str, Any]:
    """A delivery with its request, as the last attempt sent it, and every attempt. Raises :class:`NotFound`."""
    row = get(service.store, trigger_id, delivery_id)
    attempts = service.store.all(
        "SELECT * FROM delivery_attempts WHERE delivery_id = :id ORDER BY n", {"id": delivery_id}
    )
    signed = orjson.loads(attempts[-1]["signed"] or "{}") if attempts else {}
    body = events.body_of(service, row["event_id"]).decode("utf-8", "replace")
    request = {"url": row["url"], "headers": {"content-type": "application/json", **signed}, "body": body}
    return {**to_json(row), "request": request, "attempts": [_attempt(attempt) for attempt in attempts]}


def _check_status(status: str | None) -> None:
    """Raise :class:`Invalid` for a status that deliveries never have."""
    if status is not None and status not in stats.STATUSES:
        raise Invalid.of("status", "Use waiting, delivered or failed.")


def _where_of(trigger_id: str, filters: Filter) -> tuple[str, dict[str, Any]]:
    """The condition on ``deliveries d`` that ``filters`` means, and its parameters."""
    where, params = "d.trigger_id = :trigger", dict[str, Any](trigger=trigger_id)
    conditions = {
        "status": "d.status = :status",
        "since": "d.created_at >= :since",
        "until": "d.created_at <= :until",
        "event_id": "d.event_id = :event_id",
    }
    for name, condition in conditions.items():
        value = getattr(filters, name)
        if value is not None:
            where, params[name] = f"{where} AND {condition}", value
    return where, params


def _count(reader: Reader, trigger_id: str, filters: Filter) -> int:
    """Counted while they are written; only a narrower list is counted by looking."""
    if filters == Filter(status=filters.status):
        return stats.count(reader, trigger_id, (filters.status,) if filters.status else stats.STATUSES)
    where, params = _where_of(trigger_id, filters)
    row = reader.one(f"SELECT COUNT(*) AS n FROM deliveries d WHERE {where}", params)  # noqa: S608
    return int(row["n"]) if row else 0


def _attempt(row: Row) -> dict[str, Any]:
    response = orjson.loads(row["response"] or "{}")
    return {
        "n": row["n"],
        "at": row["at"],
        "took_ms": row["took_ms"],
        "response_status": row["status"],
        "error": row["error"],
        "failure": response.get("failure"),
        "response_headers": response.get("headers"),
        "response_body": response.get("body"),
    }


def resend(service: Service, trigger_id: str, delivery_id: str) -> Row:
    """Make one delivery due now, whatever its status; one that is in flight is unchanged.

    Raises :class:`NotFound`, :class:`Conflict` if its webhook is switched off or removed.
    """
    row = get(service.store, trigger_id, delivery_id)
    endpoint = endpoints.find(service.store, row["endpoint_id"])
    if endpoint is not None and endpoint.owner == "removed":
        raise Conflict("This webhook was removed, so nothing can be sent to it again. Its deliveries are kept to read.")
    if endpoint is not None and not endpoint.active:
        raise Conflict("This webhook is switched off; reset its delivery state first, then send again.")
    _due_now(service, "d.id = :id AND d.trigger_id = :trigger", {"id": delivery_id, "trigger": trigger_id})
    return get(service.store, trigger_id, delivery_id)


def resend_many(service: Service, trigger_id: str, which: str, filters: Filter, *, dry_run: bool) -> int:
    """Let the deliveries of a time be due now: those that have failed, or all that ended; how many there are.

    Those of webhooks that are switched off are left out. ``dry_run`` only counts. Raises :class:`Invalid`.
    """
    if which not in WHICH:
        raise Invalid.of("status", "Use failed or all.")
    where, params = _where_of(trigger_id, replace(filters, status="failed" if which == "failed" else None))
    where = f"{where} AND d.status <> 'waiting'"
    if not dry_run:
        return _due_now(service, where, params)
    return deliveries.count_resendable(service.store, where, params, service.clock())


def _due_now(service: Service, where: str, params: Mapping[str, Any]) -> int:
    with service.store.write() as tx:
        count = deliveries.restart(tx, where, params, service.clock())
    service.wake()
    return count


_LOG_STATUSES: Mapping[str, Status] = {
    "delivered": "succeeded",
    "failed": "failed",
    "waiting": "waiting",
    "put_off": "waiting",
}


def _log_entry(row: LogRow, _now: int) -> LogEntry:
    outcome = str(row.number) if row.number and _LOG_STATUSES[row.state] != "waiting" else row.state
    return row.entry("delivery", _LOG_STATUSES[row.state], outcome)


LOG = LogSource(
    "delivery",
    "dlv",
    (token_scopes.DEPLOYED_TRIGGERS_READ,),
    "deliveries",
    {
        "at": "created_at",
        "id": "id",
        "state": "CASE WHEN status = 'waiting' AND next_at IS NULL THEN 'put_off' ELSE status END",
        "number": "last_status",
        "title": "COALESCE((SELECT NULLIF(e.summary, '') FROM events e WHERE e.id = deliveries.event_id) || ' → ', '') "
        "|| (SELECT p.masked_url FROM endpoints p WHERE p.id = deliveries.endpoint_id)",
        "text": "last_error",
        "took_ms": "took_ms",
        "app": "app",
        "external_user_id": USER_NAME.format(table="deliveries"),
        "trigger_id": "trigger_id",
        "event_id": "event_id",
        "attempt": "attempt",
        "next_attempt_at": "CASE WHEN status = 'waiting' AND lease_until = 0 THEN next_at END",
    },
    _log_entry,
    {"succeeded": ("status = 'delivered'",), "failed": ("status = 'failed'",), "waiting": ("status = 'waiting'",)},
    apart=("status = 'delivered'", "status = 'failed'", "status = 'waiting'"),
    subjects=("event_id", "trigger_id"),
    together=("event_id", "trigger_id"),
)
"""The deliveries as the logs show them."""
