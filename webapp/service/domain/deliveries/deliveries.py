"""Deliveries (table ``deliveries``): the outbox. The table is the truth.

    waiting ──claim──▶ in flight (leased) ──2xx──▶ delivered
       ▲                     │ failure: next in the schedule
       └─────────────────────┴── schedule over ──▶ failed ──resend──▶ waiting

A waiting delivery has a time, ``next_at``; without one it is *put off*, until its endpoint is healthy again
(:mod:`endpoint_state`). This module has the statements that write the rows, and those of attempts (table
``delivery_attempts``). :mod:`claims` decides what is claimed and what an outcome means; :mod:`log` has the lists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Any

from webapp.kit.crypto import ordered_id
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import stats
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Row, Tx, claiming

SWITCHED_OFF = "Waits, because the webhook is switched off. "
_PUT_OFF = "endpoint_id = :id AND status = 'waiting' AND next_at IS NULL"
_RESENDABLE = "EXISTS (SELECT 1 FROM endpoints p WHERE p.id = d.endpoint_id AND p.active = 1) AND d.lease_until <= :now"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where events come from: a scene, and in it a trigger with its user (our id) and its app, unless they notify."""

    scene: Scene
    trigger_id: str | None = None
    external_user_id: str | None = None
    app: str | None = None


def add(tx: Tx, event_ids: Sequence[str], targets: Sequence[Endpoint], now: int, origin: Origin) -> None:
    """A delivery of each event to each of ``targets``; for one that is switched off it is put off."""
    whose = {**asdict(origin.scene), "trigger": origin.trigger_id, "user": origin.external_user_id, "app": origin.app}
    for endpoint in targets:
        for event_id in event_ids:
            tx.run(
                "INSERT INTO deliveries (id, event_id, endpoint_id, project_id, environment, external_user_id, app, "
                "trigger_id, status, next_at, last_error, created_at, updated_at) VALUES (:id, :event, :endpoint, "
                ":project_id, :environment, :user, :app, :trigger, 'waiting', :next, :error, :now, :now)",
                {
                    **whose,
                    "id": ordered_id("dlv"),
                    "event": event_id,
                    "endpoint": endpoint.id,
                    "next": now if endpoint.active else None,
                    "error": None if endpoint.active else f"{SWITCHED_OFF}{endpoint.last_error or ''}".rstrip(),
                    "now": now,
                },
            )
        stats.added(tx, origin.trigger_id, "waiting", len(event_ids))


def next_due_at(reader: Reader, after: int | None = None) -> int | None:
    """When the next delivery is due; with ``after`` the next later than that."""
    if after is None:
        row = reader.tuples("SELECT MIN(next_at) FROM deliveries WHERE next_at IS NOT NULL")
    else:
        row = reader.tuples("SELECT MIN(next_at) FROM deliveries WHERE next_at > :after", {"after": after})
    return row[0][0] if row else None


def lease(tx: Tx, endpoint_id: str, holder: int, now: int, limit: int) -> list[Row]:
    """Lease up to ``limit`` deliveries that are due for an endpoint to the generation ``holder``: id, event, trigger,
    attempt, tries and the end of the lease of each, oldest first."""
    rows = tx.all(
        "WITH due AS (SELECT id FROM deliveries WHERE endpoint_id = :endpoint AND next_at <= :now "  # noqa: S608
        f"ORDER BY next_at, id LIMIT :limit{claiming(tx)}) UPDATE deliveries SET attempt = attempt + 1, "
        "lease_until = :lease, next_at = :lease, holder = :holder, updated_at = :now "
        "WHERE id IN (SELECT id FROM due) RETURNING id, event_id, trigger_id, attempt, tries, lease_until",
        {"lease": now + leases.DELIVERY, "holder": holder, "now": now, "endpoint": endpoint_id, "limit": limit},
    )
    return sorted(rows, key=itemgetter("id"))


def take_over(tx: Tx, service: Service, dead: int) -> int:
    """Make due now what the generation ``dead`` had claimed; return the number. These attempts do not count."""
    now = service.clock()
    return tx.run(
        "UPDATE deliveries SET next_at = :now, lease_until = 0, updated_at = :now "
        "WHERE next_at > :now AND next_at <= :now + :lease AND lease_until > 0 AND holder = :dead",
        {"now": now, "lease": leases.DELIVERY, "dead": dead},
    )


def end_attempts(tx: Tx, rows: Sequence[tuple[object, ...]], now: int) -> set[tuple[str, int]]:
    """End attempts in one statement; return the id and attempt of those whose attempt still counts.

    A row is the delivery's id, its attempt, its new status and next time, and of the response the HTTP status, the
    error, the duration in milliseconds and the time.
    """
    values, params = attempt_values(rows)
    changed = tx.tuples(
        "UPDATE deliveries SET status = v.column3, tries = tries + 1, next_at = CAST(v.column4 AS BIGINT), "  # noqa: S608
        "lease_until = 0, last_status = CAST(v.column5 AS INTEGER), last_error = v.column6, "
        "took_ms = CAST(v.column7 AS BIGINT), last_at = CAST(v.column8 AS BIGINT), "
        f"updated_at = :now FROM (VALUES {values}) AS v "
        "WHERE id = v.column1 AND attempt = v.column2 AND lease_until > 0 RETURNING id, attempt",
        {**params, "now": now},
    )
    return set(changed)


def put_off(tx: Tx, endpoint_id: str, now: int, limit: int) -> int:
    """Put off up to ``limit`` deliveries that are due for an endpoint; return their number."""
    return tx.run(
        "UPDATE deliveries SET next_at = NULL, lease_until = 0, updated_at = :now WHERE id IN (SELECT id FROM "
        "deliveries WHERE endpoint_id = :id AND next_at <= :now ORDER BY next_at, id LIMIT :limit)",
        {"id": endpoint_id, "now": now, "limit": limit},
    )


def put_waiting_off(tx: Tx, endpoint_id: str, now: int, limit: int) -> int:
    """Put off up to ``limit`` deliveries to an endpoint that are due, or wait for a retry; return their number.

    A retry that comes before its time does not count in the schedule. What a receiver refused with 429 keeps its time.
    """
    return tx.run(
        "UPDATE deliveries SET next_at = NULL, lease_until = 0, updated_at = :now, "
        "tries = CASE WHEN tries > 0 THEN tries - 1 ELSE 0 END WHERE id IN (SELECT id FROM "
        "deliveries WHERE endpoint_id = :id AND next_at IS NOT NULL AND (next_at <= :now OR lease_until = 0 "
        "AND COALESCE(last_status, 0) <> 429) ORDER BY next_at, id LIMIT :limit)",
        {"id": endpoint_id, "now": now, "limit": limit},
    )


def put_all_off(tx: Tx, endpoint_id: str, reason: str, now: int) -> int:
    """Put off all deliveries that wait for an endpoint and are not claimed, and restart their schedule; return their
    number."""
    return tx.run(
        "UPDATE deliveries SET next_at = NULL, lease_until = 0, tries = 0, last_error = :reason, updated_at = :now "
        "WHERE endpoint_id = :id AND next_at IS NOT NULL AND lease_until <= :now",
        {"reason": f"{SWITCHED_OFF}{reason}".rstrip(), "now": now, "id": endpoint_id},
    )


def fail_all(tx: Tx, endpoint_id: str, reason: str, now: int) -> None:
    """Fail all deliveries that wait for an endpoint and are not in flight."""
    values = {"reason": reason, "now": now, "id": endpoint_id}
    for where in (_PUT_OFF, "endpoint_id = :id AND next_at IS NOT NULL AND lease_until <= :now"):
        rows = tx.tuples(
            "UPDATE deliveries SET status = 'failed', next_at = NULL, lease_until = 0, last_error = :reason, "  # noqa: S608
            f"updated_at = :now WHERE {where} RETURNING trigger_id",
            values,
        )
        stats.moved(tx, [(trigger_id, "waiting", "failed") for (trigger_id,) in rows])


def bring_forward(tx: Tx, endpoint_id: str, at: int, limit: int, now: int) -> int:
    """Set the time ``at`` of the ``limit`` oldest deliveries that were put off for an endpoint; return the number."""
    return tx.run(
        "UPDATE deliveries SET next_at = :at, updated_at = :now WHERE id IN "  # noqa: S608 - a constant
        f"(SELECT id FROM deliveries WHERE {_PUT_OFF} ORDER BY id LIMIT :limit)",
        {"at": at, "now": now, "id": endpoint_id, "limit": limit},
    )


def is_put_off(reader: Reader, endpoint_id: str) -> bool:
    """Whether something is put off for an endpoint."""
    return bool(reader.tuples(f"SELECT 1 FROM deliveries WHERE {_PUT_OFF} LIMIT 1", {"id": endpoint_id}))  # noqa: S608


def count_due(reader: Reader, endpoint_id: str, limit: int, now: int) -> int:
    """The number of deliveries due for an endpoint, at most ``limit``."""
    sql = "SELECT 1 FROM deliveries WHERE endpoint_id = :id AND next_at <= :now LIMIT :limit"
    return len(reader.tuples(sql, {"id": endpoint_id, "now": now, "limit": limit}))


def next_of_endpoint(reader: Reader, endpoint_id: str) -> int | None:
    """When the next delivery to an endpoint is due, or the lease of one in flight ends."""
    sql = "SELECT MIN(next_at) FROM deliveries WHERE endpoint_id = :id AND next_at IS NOT NULL"
    next_at: int | None = reader.tuples(sql, {"id": endpoint_id})[0][0]
    return next_at


def restart(tx: Tx, where: str, params: Mapping[str, Any], now: int) -> int:
    """Make the ``deliveries d`` that meet ``where`` due now, from the start of the schedule; return their number.

    Those in flight and those of endpoints that are switched off are left out.
    """
    where, params = f"{where} AND {_RESENDABLE}", {**params, "now": now}
    rows = tx.tuples(f"SELECT d.trigger_id, d.status FROM deliveries d WHERE {where}", params)  # noqa: S608
    tx.run(
        "UPDATE deliveries AS d SET status = 'waiting', tries = 0, next_at = :now, lease_until = 0, "  # noqa: S608
        f"updated_at = :now WHERE {where}",
        params,
    )
    stats.moved(tx, [(trigger_id, status, "waiting") for trigger_id, status in rows])
    return len(rows)


def count_resendable(reader: Reader, where: str, params: Mapping[str, Any], now: int) -> int:
    """The number of deliveries that :func:`restart` would make due."""
    sql = f"SELECT COUNT(*) FROM deliveries d WHERE {where} AND {_RESENDABLE}"  # noqa: S608
    return int(reader.tuples(sql, {**params, "now": now})[0][0])


def realign(tx: Tx, now: int) -> int:
    """After the clock was set back, move deliveries that are too far away: each keeps its pause."""
    return tx.run(
        "UPDATE deliveries SET next_at = :now + next_at - updated_at, updated_at = :now, "
        "lease_until = CASE WHEN lease_until > 0 THEN :now + lease_until - updated_at ELSE 0 END "
        "WHERE next_at > :now AND updated_at > :now",
        {"now": now},
    )


def add_attempts(tx: Tx, rows: Sequence[tuple[object, ...]]) -> None:
    """Add attempts: the delivery's id, the attempt's number, time, milliseconds, HTTP status, error, and as JSON the
    signed headers and the response."""
    values, params = attempt_values(rows)
    columns = "delivery_id, n, at, took_ms, status, error, signed, response"
    tx.run(f"INSERT INTO delivery_attempts ({columns}) VALUES {values}", params)  # noqa: S608


def attempt_values(rows: Sequence[tuple[object, ...]]) -> tuple[str, dict[str, object]]:
    """``rows`` for ``VALUES``: the marks and the parameters."""
    marks = [[f"r{n}_{m}" for m in range(len(row))] for n, row in enumerate(rows)]
    params = {
        mark: value for names, row in zip(marks, rows, strict=True) for mark, value in zip(names, row, strict=True)
    }
    return ", ".join(f"({', '.join(':' + mark for mark in names)})" for names in marks), params
