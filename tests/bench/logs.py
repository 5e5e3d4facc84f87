"""``make bench-logs``: what a page of the logs costs by each filter, among 1,000 entries and among 1,000,000.

Every filter is asked of SQLite and of PostgreSQL. CPU time is that of this process and of the server's; of several
rounds, in which the databases take turns, the least counts, since whatever else the machine does only adds to it.

With ``--steps`` it counts the steps of SQLite's virtual machine instead, which are the same on any machine, busy or
not.
"""

import itertools
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
from sqlite_utils import Database

from tests.bench.meter import spent_s
from tests.once import postgres as databases
from webapp.kit.clock import DAY, HOUR, MINUTE
from webapp.kit.crypto import ordered_id_at
from webapp.kit.cursors import Window
from webapp.service.domain.access import api_calls
from webapp.service.domain.components import runs
from webapp.service.domain.logs import logs
from webapp.service.domain.projects.log_entries import KINDS, STATUSES, Kind, LogFilter
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import runs as trigger_runs
from webapp.store.contract import IN_ORDER, Store, Tx
from webapp.store.migrations import SCHEMA
from webapp.store.postgres.connections import numbered
from webapp.store.postgres.store import PostgresStore
from webapp.store.sqlite import SQLiteStore

PER_PAGE = 50
"""As the page shows them."""
TARGET_MS, TARGET_RATIO = 6.0, 1.3
ROUNDS, WARM_UP = 5, 8
RARE, OLD, NEW, WAITING = 8, 20, 100, 6
"""Of each table, how many rows are of a rare user, of the first days, of the last hour, and wait."""
_CAPS = {
    ("runs", "busy"): runs.KEPT_PER_USER,
    ("trigger_runs", "busy"): trigger_runs.KEPT_PER_TRIGGER,
    ("api_calls", ""): api_calls.KEPT_PER_SCENE,
}
"""Of some tables, no more rows of a user, a trigger or an environment are kept."""
NOW = time.time_ns() // 1_000_000
SCENE, OTHER = Scene("proj_logs", "production"), "proj_other"
TABLES = ("runs", "trigger_runs", "api_calls", "events", "deliveries", "account_history", "agent_approvals")


class Question(NamedTuple):
    """A filter of the list, as :func:`webapp.service.domain.logs.logs.page` takes it."""

    filters: dict[str, Any]
    kind: Kind | None = None
    entry_id: str | None = None
    is_second: bool = False


def _user(name: str) -> dict[str, Any]:
    return {"external_id": f"user-{name}", "user_id": f"exu_{name}", "own": True}


WHO: dict[str, dict[str, Any]] = {
    "the project's": {},
    "a busy user's own": _user("busy"),
    "a rare user's own": _user("rare"),
}
WHICH: dict[str, Question] = {
    "all": Question({}),
    "the second page": Question({}, is_second=True),
    **{f"that {status}": Question({"status": status}) for status in STATUSES},
    **{f"of the kind {kind}": Question({}, kind) for kind in KINDS},
    "of the kind run that failed": Question({"status": "failed"}, "run"),
    "of a busy app": Question({"app": "busy"}),
    "of a rare app": Question({"app": "rare"}),
    "of a busy app that failed": Question({"app": "busy", "status": "failed"}),
    "of a rare app that failed": Question({"app": "rare", "status": "failed"}),
    "of the last hour": Question({"since": NOW - HOUR}),
    "of the last hour that failed": Question({"since": NOW - HOUR, "status": "failed"}),
    "of the oldest days": Question({"until": NOW - 26 * DAY}),
    "of a busy app of the oldest days": Question({"app": "busy", "until": NOW - 26 * DAY}),
    "about a busy account": Question({}, None, "apn_busy"),
    "about a rare account": Question({}, None, "apn_rare"),
    "about a busy trigger": Question({}, None, "dc_busy"),
    "about a busy trigger that failed": Question({"status": "failed"}, None, "dc_busy"),
    "about a rare trigger": Question({}, None, "dc_rare"),
    "about a busy component": Question({}, None, "busy-component"),
    "about a busy component that failed": Question({"status": "failed"}, None, "busy-component"),
    "about a rare component": Question({}, None, "rare-component"),
    "about an id of a component": Question({}, None, "sc_busy"),
    "about an event": Question({}, None, f"{ordered_id_at('evt', NOW - 28 * DAY)}000000"),
}


@click.command()
@click.option("--few", default=1_000, show_default=True, help="Entries in the one database.")
@click.option("--many", default=1_000_000, show_default=True, help="Entries in the other.")
@click.option("--requests", "count", default=20, show_default=True, help=f"Pages in a round; {ROUNDS} rounds each.")
@click.option("--only", default="", help="Only filters with this in their names.")
@click.option("--store", "chosen", type=click.Choice(["sqlite", "postgres", "both"]), default="both", show_default=True)
@click.option("--explain", is_flag=True, help="The plans of the filters that miss a target.")
@click.option("--steps", is_flag=True, help="Count steps of SQLite's virtual machine rather than time.")
def bench(few: int, many: int, count: int, only: str, chosen: str, explain: bool, steps: bool) -> None:
    """Print the CPU milliseconds of a page by each filter in both databases, and how they grow."""
    unit, most = ("k steps", float("inf")) if steps else ("ms", TARGET_MS)
    for name in ("sqlite",) if steps else ("sqlite", "postgres") if chosen == "both" else (chosen,):
        missed = 0
        with ExitStack() as stack:
            stores = [stack.enter_context(_STORES[name](rows)) for rows in (few, many)]
            click.echo(f"{name:<58} {few:>11,} {many:>11,}")
            asked = {who: named for who, named in _questions() if only in who}
            for who, question in asked.items():
                one, other = _steps(stores, question) if steps else _least(stores, question, count)
                ratio = other / one
                reached = other <= most and ratio <= TARGET_RATIO
                missed += not reached
                costs = f"{one:8.2f} {unit} {other:8.2f} {unit} {ratio:5.2f} ×"
                click.echo(f"{who:<58} {costs}{'' if reached else '  missed'}")
                if explain and not reached:
                    _explain(stores[1], question)
        targets = f"≤ {most:g} {unit} and ≤ {TARGET_RATIO:g} ×"
        click.echo(f"{len(asked) - missed} of {len(asked)} filters reach {targets}\n")


def _questions() -> Iterator[tuple[str, Question]]:
    for who, user in WHO.items():
        for which, question in WHICH.items():
            yield f"{who}, {which}", question._replace(filters={**question.filters, **user})


def _least(stores: Sequence[Store], question: Question, count: int) -> list[float]:
    asks = [_asking(store, question) for store in stores]
    pids = [_server_of(store) for store in stores]
    rounds = [[_cpu_ms(ask, pid, count) for ask, pid in zip(asks, pids, strict=True)] for _ in range(ROUNDS)]
    return [min(column) for column in zip(*rounds, strict=True)]


class _Counter:
    """Reads a database as a store does, and counts the steps of its virtual machine."""

    def __init__(self, store: SQLiteStore) -> None:
        self.steps = 0
        self._connection = sqlite3.connect(store.folder / "patchbay.db")
        self._connection.execute("SELECT 1 FROM sqlite_master").fetchall()  # reads the schema, which is no part of it
        self._connection.set_progress_handler(self._step, 1)

    def tuples(self, sql: str, params: Any = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, params or {}).fetchall()

    def _step(self) -> int:
        self.steps += 1
        return 0


def _steps(stores: Sequence[Any], question: Question) -> list[float]:
    """Thousands of steps of one page in each database."""
    counts = list[float]()
    for store in stores:
        counter: Any = _Counter(store)
        ask = _asking(counter, question)
        counter.steps = 0
        ask()
        counts.append(counter.steps / 1000)
    return counts


def _asking(store: Store, question: Question) -> Callable[[], logs.LogPage]:
    log_filter, window = LogFilter(SCENE, **question.filters), Window(PER_PAGE)

    def ask() -> logs.LogPage:
        return logs.page(store, NOW, log_filter, window, kind=question.kind, entry_id=question.entry_id)

    if question.is_second and (end := ask().end_cursor):
        window = replace(window, after=end)
    return ask


def _server_of(store: Store) -> int | None:
    """The process that answers, if it is another than ours."""
    return int(store.tuples("SELECT pg_backend_pid()")[0][0]) if isinstance(store, PostgresStore) else None


def _cpu_ms(ask: Callable[[], object], server: int | None, count: int) -> float:
    def spent() -> float:
        return time.process_time() + (spent_s(server) if server else 0)

    for _ in range(WARM_UP):
        ask()
    began = spent()
    for _ in range(count):
        ask()
    return (spent() - began) / count * 1000


def _explain(store: Store, question: Question) -> None:
    asked = list[tuple[str, Any]]()

    class Recorder:
        def tuples(self, sql: str, params: Any = ()) -> list[tuple[Any, ...]]:
            asked.append((sql, params))
            return store.tuples(sql, params or {})

    filters, kind, entry_id, _ = question
    logs.page(Recorder(), NOW, LogFilter(SCENE, **filters), Window(PER_PAGE), kind=kind, entry_id=entry_id)  # type: ignore[arg-type]
    plan = _plan_of_postgres if isinstance(store, PostgresStore) else _plan_of_sqlite
    for sql, params in asked:
        click.echo(f"    {sql}")
        for line in plan(store, sql, params):
            click.echo(f"      {line}")


def _plan_of_sqlite(store: Store, sql: str, params: Any) -> list[str]:
    return [row[-1] for row in store.tuples(f"EXPLAIN QUERY PLAN {sql}", params or {})]


def _plan_of_postgres(store: Store, sql: str, params: Any) -> list[str]:
    """The plan for any values, by the settings that a reading in order has."""
    text, values = numbered(sql, params)
    with store.write() as tx:
        tx.run(f"PREPARE asked AS {text}")
    given = ", ".join(str(value) if isinstance(value, int) else f"'{value}'" for value in values)
    plan = store.tuples(f"{IN_ORDER}EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) EXECUTE asked{f'({given})' if given else ''}")
    with store.write() as tx:
        tx.run("DEALLOCATE asked")
    return [line for (line,) in plan]


@contextmanager
def _sqlite(rows: int) -> Iterator[SQLiteStore]:
    folder = Path(tempfile.mkdtemp(prefix="patchbay-logs-"))
    try:
        with closing(SQLiteStore(folder / "patchbay.db")) as store:
            store.migrate()
            fill(store, rows)
            yield store
    finally:
        shutil.rmtree(folder)


@contextmanager
def _postgres(rows: int) -> Iterator[PostgresStore]:
    name = databases.new()
    with closing(PostgresStore(databases.url(name), connections=1)) as store:
        store.months.make(NOW - 29 * DAY, NOW)
        fill(store, rows)
    with closing(PostgresStore(databases.url(name), connections=1)) as store:
        for table in TABLES:  # as autovacuum does
            with store.write() as tx:
                tx.run(f"ANALYZE {table}")
        yield store
    databases.drop(name)


_STORES: dict[str, Callable[[int], Any]] = {"sqlite": _sqlite, "postgres": _postgres}


def fill(store: Store, rows: int) -> None:
    """Put ``rows`` entries into the tables of the logs, a tenth of them another project's.

    Half of them are of what is called busy: a user, an app, a component, an account and a trigger, of which only the
    oldest failed; of the others, every third did. What is rare has the same few rows in a large database as in a small
    one, and so have the first two days and the last hour.
    """
    names = ("busy", "rare", *(f"other{number}" for number in range(50)))
    place = {"project_id": SCENE.project_id, "environment": SCENE.environment}
    owners = [{**place, "external_user_id": f"exu_{name}", "external_id": f"user-{name}"} for name in names]
    with store.write() as tx:
        _load(tx, "projects", [{"id": project} for project in (SCENE.project_id, OTHER)])
        _load(tx, "external_users", ({**owner, "id": owner["external_user_id"]} for owner in owners))
        triggers = ({"id": f"dc_{name}", "name": f"Trigger {name}", "app": name} for name in names)
        _load(tx, "deployed_triggers", (each | owner for each, owner in zip(triggers, owners, strict=True)))
        _load(tx, "endpoints", [{**place, "id": "wh_one", "masked_url": "https://example.com/…"}])
    each = rows // len(TABLES)
    for table in TABLES:
        indexes = _indexes(store, table)
        with store.write() as tx:  # to build an index of all rows takes a fraction of what each row's place in it does
            for name in indexes:
                tx.run(f"DROP INDEX {name}")
            _load(tx, table, (_row(table, number, each) for number in range(each)))
            for statement in indexes.values():
                tx.run(statement)


def _indexes(store: Store, table: str) -> dict[str, str]:
    """The statements of those indexes of ``table`` that do not keep its rows apart, by their names."""
    if isinstance(store, PostgresStore):
        sql = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = :of AND schemaname = current_schema()"
    else:
        sql = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :of AND sql IS NOT NULL"
    rows = store.tuples(sql, {"of": table})
    return {name: made.replace(" ON ONLY ", " ON ") for name, made in rows if not made.startswith("CREATE UNIQUE")}


def _row(table: str, number: int, rows: int) -> dict[str, Any]:
    at = _moment(number, rows)
    newest = rows - number
    is_busy = number % 2 and newest <= 2 * _CAPS.get((table, "busy"), rows)
    name = "rare" if number < RARE else "busy" if is_busy else f"other{number % 50}"
    app = "rare" if number < 2 * RARE else "busy" if number % 4 < 3 else f"app{number % 30}"
    failed = number % 3 == 1 and (name != "busy" or number < OLD)
    waits = number >= rows - WAITING
    status = "waiting" if waits else "failed" if failed else "delivered"
    row = {
        "project_id": OTHER if number % 10 == 9 or (number >= OLD and newest > _CAPS.get((table, ""), rows))
        else SCENE.project_id, "environment": SCENE.environment,
        "external_user_id": f"exu_{name}", "external_id": f"user-{name}", "app": app, "trigger_id": f"dc_{name}",
        "component_key": f"{name}-component", "component_id": f"sc_{name}", "account_id": f"apn_{name}",
        "at": at, "created_at": at, "started_at": at, "expires_at": at + HOUR, "took_ms": 20 + number % 90,
        "ok": int(not failed), "good": int(not failed), "emitted": number % 2, "cause": "timer", "kind": "emit",
        "event_id": _id("evt", number, rows), "endpoint_id": "wh_one", "caller_kind": "user" if number < OLD else
        "client", "method": "GET", "address": f"/v1/connect/{SCENE.project_id}/accounts/apn_{number}",
        "summary": f"Created issue {number}", "sentence": f"Account {number} was connected.",
        "error": "The app refused it." if failed else None,
    }  # fmt: skip
    of_table: dict[str, dict[str, Any]] = {
        "runs": {"id": _id("run", number, rows), "state": "running" if waits else "ended",
                 "ok": int(not failed and not waits), "agent": None if number % 3 else "Claude"},
        "trigger_runs": {"id": _id("tr", number, rows)},
        "api_calls": {"id": _id("call", number, rows), "status": 400 if failed else 200},
        "events": {"id": _id("evt", number, rows)},
        "deliveries": {"id": _id("dlv", number, rows), "status": status, "last_status": 500 if failed else 200},
        "account_history": {"id": _id("ev", number, rows)},
        "agent_approvals": {"id": _id("apr", number, rows), "agent": "Claude",
                            "state": "waiting" if waits else "refused" if failed else "used"},
    }  # fmt: skip
    return row | of_table[table]


def _id(prefix: str, number: int, rows: int) -> str:
    return f"{ordered_id_at(prefix, _moment(number, rows))}{number:06x}"


def _moment(number: int, rows: int) -> int:
    if number < OLD:
        return NOW - 28 * DAY + number * 5 * MINUTE
    if number >= rows - NEW:
        return NOW - HOUR * (rows - number) // (NEW + 1)
    return NOW - 26 * DAY + 25 * DAY * (number - OLD) // rows


def _load(tx: Tx, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert ``rows``, which have the same columns, with something in each other one that must hold something."""
    known, needed = _columns(table)
    following = iter(rows)
    first = next(following)
    columns = [name for name in known if name in first or name in needed]
    values = ([row.get(name, needed.get(name)) for name in columns] for row in itertools.chain([first], following))
    tx.load(table, columns, values)


@cache
def _columns(table: str) -> tuple[list[str], dict[str, Any]]:
    """The names of all columns, and what those hold that must hold something, where a row does not say it."""
    with Database(memory=True) as model:
        for name in SCHEMA.names:
            SCHEMA.migration(name).apply(model)
        columns = model.table(table).columns
    blank = {"TEXT": "", "BLOB": b""}
    return [column.name for column in columns], {
        column.name: blank.get(column.type, 0)
        for column in columns
        if (column.notnull or column.is_pk) and column.default_value is None
    }


if __name__ == "__main__":
    bench()
