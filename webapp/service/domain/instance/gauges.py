"""The numbers that an operator watches: how many rows there are, how many are due, and the space they take.

Each is read from an index or from the file system.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webapp.kit import heartbeat
from webapp.kit.clock import SECOND
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import reconnect_mails
from webapp.store.contract import Row

ACCOUNT_STATES, TRIGGER_STATES = ("healthy", "retrying", "dead"), ("active", "paused", "switched_off")


@dataclass(frozen=True, slots=True)
class Gauge:
    """One number, or one for each value of ``label``."""

    name: str
    help: str
    values: Mapping[str, float]
    label: str = ""


def read(service: Service) -> Sequence[Gauge]:
    """Every gauge. Raises :class:`webapp.errors.Unavailable`."""
    first_row = service.store.one
    accounts = service.store.all(
        "SELECT CASE WHEN dead = 1 THEN 'dead' WHEN healthy = 1 THEN 'healthy' ELSE 'retrying' END AS state, "
        "COUNT(*) AS n FROM accounts GROUP BY 1"
    )
    triggers = service.store.all(
        "SELECT CASE WHEN active = 1 THEN 'active' WHEN switched_off IS NULL THEN 'paused' ELSE 'switched_off' END "
        "AS state, COUNT(*) AS n FROM deployed_triggers GROUP BY 1"
    )
    waiting = first_row("SELECT COUNT(*) AS n, MIN(next_at) AS first FROM deliveries WHERE next_at IS NOT NULL") or {}
    put_off = first_row("SELECT COUNT(*) AS n FROM deliveries WHERE next_at IS NULL AND status = 'waiting'") or {}
    first = waiting.get("first")
    late = max(0.0, (service.clock() - first) / SECOND) if first is not None else 0.0
    sizes, months = service.store.sizes(), service.store.months
    worker_age_s = heartbeat.age_s(service.settings.data / heartbeat.WORKER)
    return (
        Gauge("accounts", "Connected accounts.", _by_state(ACCOUNT_STATES, accounts), "state"),
        Gauge("triggers", "Deployed triggers.", _by_state(TRIGGER_STATES, triggers), "state"),
        Gauge("deliveries_waiting", "Deliveries that are on their way or have a time.", {"": waiting.get("n", 0)}),
        Gauge(
            "deliveries_put_off", "Deliveries that wait until their webhook is well again.", {"": put_off.get("n", 0)}
        ),
        Gauge("deliveries_late_seconds", "How long the first of them has been due.", {"": late}),
        Gauge(
            "worker_seen_seconds",
            "How long ago the worker of this machine was seen; as long as Unix time where it never was.",
            _worker_seen(service, worker_age_s),
        ),
        Gauge(
            "months_missing",
            "Of this month and the next, those without tables for events, where these are kept by months.",
            {"": len(months.missing(service.clock())) if months else 0},
        ),
        Gauge(
            "mails_failing",
            "People whose last mail about their accounts was not delivered.",
            {"": reconnect_mails.failing(service.store, service.clock()).people},
        ),
        Gauge("database_bytes", "Size of the database.", {"": sizes.database}),
        Gauge("database_log_bytes", "Size of its log, which is not folded into it yet.", {"": sizes.log}),
        Gauge("disk_free_bytes", "Free where it stands.", {} if sizes.free is None else {"": sizes.free}),
    )


def _worker_seen(service: Service, age_s: float | None) -> dict[str, float]:
    """Empty if no worker was ever seen here, since workers may run on other machines."""
    if age_s is None and service.store.folder is None:
        return {}
    return {"": time.time() if age_s is None else age_s}


def _by_state(states: Sequence[str], rows: Sequence[Row]) -> dict[str, float]:
    """The number in each state, including 0, so that a first one is seen as growth."""
    return dict.fromkeys(states, 0) | {row["state"]: row["n"] for row in rows}
