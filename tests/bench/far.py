"""``make far``: the far end on paper. 10,000,000 accounts and 100,000,000 deliveries a day, minute by minute, on
several databases between which projects are divided, with what was measured here of an event, a delivery and a refresh.

What is assumed stands in :class:`World`; everything else is measured by :mod:`costs` and :mod:`partitions`.
Backlogs, lags and disks follow from both. Nothing is random: each run of one measurement is the same.
"""

import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import click

from tests.bench import costs, partitions, sizes
from tests.bench.sizes import CHECKED_S, DAY_S, REFRESHED_S
from webapp.cli.options import JSON
from webapp.cli.serving.logs import configure

MINUTE_S, HOUR_MINUTES, DAY_MINUTES = 60, 60, 1_440
SHARDS, REQUESTS = (1, 4, 16, 64), 600
BUSY = 0.7
"""So much of a processor is planned with."""


@dataclass(frozen=True, slots=True)
class World:
    """What is assumed. The largest of ``projects`` has a share as Zipf's law gives it. Of an hour's events, ``ticks``
    come in its first minute, as cron does. ``swing``: by how much noon and midnight differ from the mean. At noon of
    the day ``outage_day`` the receivers of ``outage_share`` of the events answer nothing for an hour."""

    accounts: int = 10_000_000
    expiring: float = 0.5
    deliveries: int = 100_000_000
    projects: int = 5_000
    kept_days: int = 30
    days: int = 92
    swing: float = 0.8
    ticks: float = 0.1
    outage_day: int = 45
    outage_share: float = 0.3


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds of CPU and bytes for one: ``take_ms`` of a web process for an event that comes in; ``send_ms``,
    ``refresh_ms`` and ``check_ms`` of a worker; ``server_ms`` of PostgreSQL for an event with its delivery, its
    ``room`` and its ``log``; the room of an account. Writers of one database come one after another: the two
    ``lock_ms`` are how long an event that comes in, and one that is claimed and settled, keep the others waiting."""

    take_ms: float
    send_ms: float
    refresh_ms: float
    check_ms: float
    server_ms: float
    room: float
    log: float
    account_room: float
    record_lock_ms: float
    deliver_lock_ms: float


@dataclass(frozen=True, slots=True)
class Shards:
    """The busiest of so many databases.

    ``hashed`` is its share of all where a project's id says which database is its own, ``share`` where a table does,
    from which all else follows. ``lock``: how much of the time its write lock is taken in the busiest hour; from 1 on
    it cannot be. A refresh writes twice, and is taken as two events. Disks in TB, by months and by days that are
    dropped; ``webs`` and ``workers`` are processes in all; ``lag_s``: how late a delivery is in the worst minute but
    for the outage; ``drained_min``: until what waited through it is gone.
    """

    count: int
    hashed: float
    share: float
    lock: float
    webs: int
    workers: int
    events_per_s: float
    server_cpus: float
    log_mb_s: float
    months_tb: float
    days_tb: float
    lag_s: float
    drained_min: int


def simulate(world: World, measured: Measured, count: int) -> Shards:
    """``count`` databases, each with as many workers as its busiest hour needs."""
    share = max(placed(world, count))
    mean = world.deliveries / DAY_S * share
    refreshes, checks = share * world.accounts * world.expiring / REFRESHED_S, share * world.accounts / CHECKED_S
    upkeep_ms = refreshes * measured.refresh_ms + checks * measured.check_ms
    peak, locked_ms = mean * (1 + world.swing), measured.record_lock_ms + measured.deliver_lock_ms
    workers = math.ceil((peak * measured.send_ms + upkeep_ms) / (1000 * BUSY))
    capacity = (workers * 1000 - upkeep_ms) / measured.send_ms * MINUTE_S  # deliveries a minute
    backlog = held = lag = 0.0
    drained = 0
    for minute in range(world.days * DAY_MINUTES):
        arriving = mean * MINUTE_S * _curve(world, minute)
        since = minute - world.outage_day * DAY_MINUTES - DAY_MINUTES // 2
        if 0 <= since < HOUR_MINUTES:
            held += arriving * world.outage_share
            arriving *= 1 - world.outage_share
        elif held:
            backlog, held = backlog + held, 0.0
        backlog = max(0.0, backlog + arriving - capacity)
        if since >= HOUR_MINUTES and not drained and backlog < capacity / MINUTE_S:
            drained = since - HOUR_MINUTES + 1
        if not 0 <= since < HOUR_MINUTES + DAY_MINUTES:
            lag = max(lag, backlog / capacity * MINUTE_S)
    terabyte = share * world.deliveries * measured.room / 1e12
    accounts = share * world.accounts * measured.account_room / 1e12
    return Shards(
        count=count,
        hashed=round(max(hashed(world, count)), 3),
        share=round(share, 3),
        lock=round((peak * locked_ms + (2 * refreshes + checks) * measured.record_lock_ms) / 1000, 2),
        webs=math.ceil(peak * measured.take_ms / (1000 * BUSY)) * count,
        workers=workers * count,
        events_per_s=round(peak),
        server_cpus=round(peak * measured.server_ms / 1000, 2),
        log_mb_s=round(peak * measured.log / 1e6, 1),
        months_tb=round(most_days_kept(world, 31) * terabyte + accounts, 2),
        days_tb=round(most_days_kept(world, 1) * terabyte + accounts, 2),
        lag_s=round(lag, 1),
        drained_min=drained,
    )


def hashed(world: World, count: int) -> Sequence[float]:
    """What part of all each of ``count`` databases has, by rendezvous hashing of projects' ids."""
    parts = [0.0] * count
    for rank, weight in enumerate(weights(world), 1):
        scores = [zlib.crc32(f"proj_{rank}|{number}".encode()) for number in range(count)]
        parts[scores.index(max(scores))] += weight
    return parts


def placed(world: World, count: int) -> Sequence[float]:
    """The same where each project, the largest first, went to the database that had least."""
    parts = [0.0] * count
    for weight in weights(world):
        parts[parts.index(min(parts))] += weight
    return parts


def weights(world: World) -> Sequence[float]:
    """What part of all each project has, the largest first."""
    raw = [1 / rank for rank in range(1, world.projects + 1)]
    return [weight / sum(raw) for weight in raw]


def most_days_kept(world: World, partition_days: int) -> int:
    """How many days' events stand at most, where a partition goes once its last event is over its time."""
    most, partitions_kept = 0, list[int]()
    for day in range(world.days):
        if day % partition_days == 0:
            partitions_kept.append(day)
        partitions_kept = [first for first in partitions_kept if first + partition_days + world.kept_days > day]
        most = max(most, day + 1 - partitions_kept[0])
    return most


def _curve(world: World, minute: int) -> float:
    """How much comes in a minute, beside the mean."""
    day = 1 - world.swing * math.cos(2 * math.pi * (minute % DAY_MINUTES) / DAY_MINUTES)
    tick = world.ticks * HOUR_MINUTES if minute % HOUR_MINUTES == 0 else 0.0
    return day * (1 - world.ticks + tick)


def text(world: World, measured: Measured, rows: Sequence[Shards]) -> str:
    """What to print."""
    per_s = world.deliveries / DAY_S
    refreshes, checks = world.accounts * world.expiring / REFRESHED_S, world.accounts / CHECKED_S
    kinds = (
        ("events that come in", per_s, measured.take_ms),
        ("deliveries", per_s, measured.send_ms),
        ("refreshes of tokens", refreshes, measured.refresh_ms),
        ("looks after accounts", checks, measured.check_ms),
        ("events in PostgreSQL", per_s, measured.server_ms),
    )
    lines = [
        "on average               a second   CPU ms each   processors",
        *(f"{name:<24} {rate:>8,.0f} {ms:>13.2f} {rate * ms / 1000:>12.2f}" for name, rate, ms in kinds),
        f"a day's events take {world.deliveries * measured.room / 1e9:,.0f} GB, and {world.kept_days} days "
        f"{world.deliveries * world.kept_days * measured.room / 1e12:.1f} TB; their log has "
        f"{per_s * measured.log / 1e6:.1f} MB a second; all accounts "
        f"{world.accounts * measured.account_room / 1e9:.0f} GB",
        "",
        "databases  by hash  busiest  its lock  events/s  its CPUs  log MB/s  TB by months  by days  webs  workers  "
        "latest s  drained min",
        *(
            f"{row.count:>9} {row.hashed:>8.1%} {row.share:>8.1%} {row.lock:>9.0%} {row.events_per_s:>9,} "
            f"{row.server_cpus:>9.2f} {row.log_mb_s:>9.1f} {row.months_tb:>13.2f} {row.days_tb:>8.2f} {row.webs:>5} "
            f"{row.workers:>8} "
            f"{row.lag_s:>9.1f} {row.drained_min:>12}"
            for row in rows
        ),
    ]
    return "\n".join(lines)


@click.command()
@click.option("--events", default=20_000, show_default=True, help="Events that are measured.")
@click.option("--accounts", default=500, show_default=True, help="Accounts that are measured.")
@JSON
def far(events: int, accounts: int, as_json: bool) -> None:
    """Measure, then simulate."""
    configure("error")
    local, server = costs.measure(events, accounts), partitions.measure(events)
    with partitions.server() as (url, _):
        remote = costs.measure(min(events, 2_000), accounts, url)
    rates, _, _ = sizes.rates(REQUESTS)
    measured = Measured(
        take_ms=rates[-1].cpu_ms - local.send_ms,
        send_ms=remote.send_ms,
        refresh_ms=remote.refresh_ms,
        check_ms=remote.check_ms,
        server_ms=server.cpu_ms,
        room=server.room,
        log=server.log,
        account_room=local.account_room,
        record_lock_ms=remote.record_lock_ms,
        deliver_lock_ms=remote.deliver_lock_ms,
    )
    world = World()
    rows = [simulate(world, measured, count) for count in SHARDS]
    whole = {
        "world": asdict(world),
        "costs": asdict(local),
        "on_postgres": asdict(remote),
        "partitions": asdict(server),
        "shards": [asdict(row) for row in rows],
    }
    forgotten = (
        f"to forget {server.count:,} events: {server.delete_ms:,.0f} ms by DELETE, and room that stays; "
        f"{server.drop_ms:,.0f} ms by dropping the partition"
    )
    click.echo(json.dumps(whole) if as_json else f"{text(world, measured, rows)}\n{forgotten}")


if __name__ == "__main__":
    far()
