"""What an event, its delivery and its attempt cost on PostgreSQL, with tables that are partitioned by month: CPU of the
server's processes, room, and log; and what forgetting a month costs by ``DELETE`` and by dropping the partition.

The tables have the columns and indexes of ``m007_events.sql`` that every event meets, and partitions like those of
:mod:`webapp.store.postgres.months`. The server is this machine's, over an empty folder, with ``fsync`` and
``synchronous_commit`` on.
"""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.bench.meter import children_of, spent_s
from tests.fakes.ports import free_port
from webapp.kit.crypto import ordered_id

GROUP = 20
"""So many events share a commit under load."""
MONTHS = ("2027-01", "2027-02", "2027-03")
BODY = b'{"text": "' + b"x" * 480 + b'"}'
SIGNED = '{"x-pd-signature": "' + "0" * 180 + '"}'
_SCHEMA = """
CREATE TABLE events (id TEXT NOT NULL, month TEXT NOT NULL, project_id TEXT NOT NULL, environment TEXT NOT NULL,
  trigger_id TEXT, kind TEXT NOT NULL, at BIGINT NOT NULL, body BYTEA, PRIMARY KEY (month, id))
  PARTITION BY LIST (month);
CREATE INDEX ON events (trigger_id, at, id);
CREATE INDEX ON events (at);
CREATE TABLE deliveries (id TEXT NOT NULL, month TEXT NOT NULL, event_id TEXT NOT NULL, endpoint_id TEXT NOT NULL,
  trigger_id TEXT, status TEXT NOT NULL, attempt INTEGER NOT NULL DEFAULT 0, next_at BIGINT,
  lease_until BIGINT NOT NULL DEFAULT 0, last_at BIGINT, last_status INTEGER, took_ms BIGINT,
  created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, PRIMARY KEY (month, id)) PARTITION BY LIST (month);
CREATE INDEX ON deliveries (next_at, endpoint_id) WHERE next_at IS NOT NULL;
CREATE INDEX ON deliveries (endpoint_id, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX ON deliveries (event_id);
CREATE INDEX ON deliveries (endpoint_id);
CREATE INDEX ON deliveries (trigger_id, created_at, id);
CREATE INDEX ON deliveries (trigger_id, status, created_at, id);
CREATE TABLE delivery_attempts (delivery_id TEXT NOT NULL, month TEXT NOT NULL, n INTEGER NOT NULL, at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL, status INTEGER, signed TEXT, response TEXT, PRIMARY KEY (month, delivery_id, n))
  PARTITION BY LIST (month);
"""
TABLES = ("events", "deliveries", "delivery_attempts")


@dataclass(frozen=True, slots=True)
class Partitions:
    """For one event with its delivery: CPU milliseconds of the server, bytes on the disk and bytes of its log. To
    forget ``count`` events takes the other two, in milliseconds."""

    count: int
    cpu_ms: float
    room: float
    log: float
    delete_ms: float
    drop_ms: float


def measure(count: int) -> Partitions:
    """Write ``count`` events into each of two months, deliver them, then forget both months, each in its way."""
    with server() as (dsn, pid), psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_SCHEMA)
        for month in MONTHS:
            for table in TABLES:
                connection.execute(f"CREATE TABLE \"{table}_{month}\" PARTITION OF {table} FOR VALUES IN ('{month}')")
        log, spent = _log(connection), _spent_s(pid)
        for month in MONTHS[:2]:
            _fill(connection, month, count)
        spent, log = _spent_s(pid) - spent, _log(connection) - log
        room = _room(connection)
        delete_ms = _took_ms(connection, *(f"DELETE FROM {table} WHERE month = '{MONTHS[0]}'" for table in TABLES))
        drop_ms = _took_ms(connection, *(f'DROP TABLE "{table}_{MONTHS[1]}"' for table in TABLES))
    whole = 2 * count
    return Partitions(
        count, round(spent / whole * 1000, 3), round(room / whole, 1), round(log / whole, 1), delete_ms, drop_ms
    )


def _fill(connection: "psycopg.Connection[tuple[object, ...]]", month: str, count: int) -> None:
    """Groups of events come in, are claimed, and are settled: three transactions for each group."""
    for first in range(0, count, GROUP):
        now = 1_800_000_000_000 + first
        ids = [(ordered_id("evt"), ordered_id("dlv"), f"dc_{n % 997}", f"wh_{n % 997}") for n in range(GROUP)]
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO events VALUES (%s, %s, 'proj_1', 'production', %s, 'emit', %s, %s)",
                [(event, month, trigger, now, BODY) for event, _, trigger, _ in ids],
            )
            cursor.executemany(
                "INSERT INTO deliveries (id, month, event_id, endpoint_id, trigger_id, status, next_at, created_at, "
                "updated_at) VALUES (%s, %s, %s, %s, %s, 'waiting', %s, %s, %s)",
                [(delivery, month, event, hook, trigger, now, now, now) for event, delivery, trigger, hook in ids],
            )
        with connection.transaction():
            claimed = connection.execute(
                "UPDATE deliveries SET next_at = %s, lease_until = %s, attempt = attempt + 1 WHERE (month, id) IN "
                "(SELECT month, id FROM deliveries WHERE next_at <= %s AND next_at IS NOT NULL ORDER BY next_at "
                f"LIMIT {GROUP} FOR UPDATE SKIP LOCKED) RETURNING month, id",
                (now + 30_000, now + 30_000, now),
            ).fetchall()
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE deliveries SET status = 'delivered', next_at = NULL, last_at = %s, last_status = 200, "
                "took_ms = 12, updated_at = %s WHERE month = %s AND id = %s AND attempt = 1",
                [(now, now, *row) for row in claimed],
            )
            cursor.executemany(
                'INSERT INTO delivery_attempts VALUES (%s, %s, 1, %s, 12, 200, %s, \'{"body": "{}"}\')',
                [(delivery, month, now, SIGNED) for month, delivery in claimed],
            )


def _log(connection: "psycopg.Connection[tuple[object, ...]]") -> float:
    row = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    return float(str(row[0])) if row else 0.0


def _room(connection: "psycopg.Connection[tuple[object, ...]]") -> float:
    row = connection.execute(
        "SELECT SUM(pg_total_relation_size(inhrelid)) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhparent "
        "WHERE relkind = 'p'"
    ).fetchone()
    return float(str(row[0])) if row else 0.0


def _took_ms(connection: "psycopg.Connection[tuple[object, ...]]", *statements: str) -> float:
    began = time.perf_counter()
    with connection.transaction():
        for statement in statements:
            connection.execute(statement)
    return round((time.perf_counter() - began) * 1000, 1)


def _spent_s(pid: int) -> float:
    return sum(map(spent_s, [pid, *children_of(pid)]))


@contextmanager
def server(more: str = "") -> Iterator[tuple[str, int]]:
    """A server of this machine over an empty folder on a real disk; how to connect, and its process. ``more`` are
    options of it."""
    tools = max(Path("/usr/lib/postgresql").glob("*/bin/initdb")).parent
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="pg-far-") as name:
        data = f"{name}/data"
        if Path("/proc/self").stat().st_uid == 0:
            shutil.chown(name, "postgres")
        _run(str(tools / "initdb"), "-D", data, "-U", "far", "-A", "trust", "--locale=C", "-E", "UTF8")
        options = f"-h 127.0.0.1 -p {port} -k {name} -c shared_buffers=512MB -c max_wal_size=4GB {more}"
        _run(str(tools / "pg_ctl"), "-D", data, "-w", "-l", f"{name}/log", "-o", options, "start")
        try:
            pid = int(Path(data, "postmaster.pid").read_text().split()[0])
            yield f"postgresql://far@127.0.0.1:{port}/postgres", pid
        finally:
            _run(str(tools / "pg_ctl"), "-D", data, "-m", "immediate", "stop")


def _run(*command: str) -> None:
    """As the user postgres when we are root, because the server refuses to run as root."""
    prefix = ("runuser", "-u", "postgres", "--") if Path("/proc/self").stat().st_uid == 0 else ()
    subprocess.run([*prefix, *command], check=True, capture_output=True, cwd="/", timeout=60)
