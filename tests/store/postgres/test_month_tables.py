"""A database of before is taken over as it is: its rows, indexes, keys and grants, all or nothing."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from tests.once import postgres as databases
from webapp.kit.clock import now
from webapp.kit.crypto import ordered_id
from webapp.store.months import name_of, number_at
from webapp.store.postgres import month_tables, schema
from webapp.store.postgres.month_functions import TABLES
from webapp.store.postgres.store import PostgresStore

INDEXES = (
    "SELECT replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') FROM pg_index JOIN pg_class ON indrelid = "
    "pg_class.oid WHERE relname = :table ORDER BY 1"
)


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """A database of a version that had no months."""
    name = databases.new("template0")
    with closing(PostgresStore(databases.url(name), connections=2)) as store:
        with monkeypatch.context() as patched:
            patched.setattr(month_tables, "convert", lambda session: None)
            patched.setattr(type(store.months), "ensure", lambda months, now: None)
            store.migrate()
        with store.write() as tx:
            tx.run("DELETE FROM migration_checksums WHERE name = :name", {"name": schema.MONTHS})
        yield store
    databases.drop(name)


def fill(store: PostgresStore) -> list[str]:
    """An event with a delivery, an attempt and a part, and a waiting request with one; the ids of the first three."""
    event, delivery, request = ordered_id("evt"), ordered_id("dlv"), ordered_id("in")
    rows: list[tuple[str, dict[str, Any]]] = [
        ("projects", {"id": "proj_1"}),
        ("endpoints", {"id": "wh_1", "owner": "general"}),
        ("events", {"id": event, "project_id": "proj_1", "at": now()}),
        ("deliveries", {"id": delivery, "event_id": event, "endpoint_id": "wh_1"}),
        ("delivery_attempts", {"delivery_id": delivery, "n": 1}),
        ("body_parts", {"id": f"{event}.00000", "project_id": "proj_1", "event_id": event}),
        ("body_parts", {"id": f"{request}.00000", "project_id": "proj_1"}),
    ]
    with store.write() as tx:
        for table, row in rows:
            needed = tx.tuples(
                "SELECT column_name::text, data_type::text FROM information_schema.columns WHERE table_name = :table "
                "AND is_nullable = 'NO' AND column_default IS NULL AND table_schema = 'public'",
                {"table": table},
            )
            values = {name: b"" if kind == "bytea" else 1 if kind == "bigint" else "" for name, kind in needed} | row
            marks = ", ".join(f":{name}" for name in values)
            tx.run(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", values)
    return [event, delivery, f"{event}.00000"]


def held(store: PostgresStore) -> dict[str, list[tuple[Any, ...]]]:
    """Each row with the table that it stands in."""
    return {
        table.name: store.tuples(f"SELECT {table.key}, tableoid::regclass::text FROM {table.name} ORDER BY 1")
        for table in TABLES
    }


def test_the_rows_of_before_stand_behind_the_months(before: PostgresStore) -> None:
    event, delivery, part = fill(before)
    with before.write() as tx:
        tx.run("GRANT SELECT ON events TO PUBLIC")
    indexes = {table.name: before.tuples(INDEXES, {"table": table.name}) for table in TABLES}
    assert before.migrate() == [schema.MONTHS]
    next_month = name_of(number_at(now()) + 1)
    rows = held(before)
    assert rows["events"] == [(event, f"events_before_{next_month}")]
    assert rows["deliveries"] == [(delivery, f"deliveries_before_{next_month}")]
    assert rows["delivery_attempts"] == [(delivery, f"delivery_attempts_before_{next_month}")]
    (first, place), (_, other) = rows["body_parts"]
    assert (first, place, other) == (part, f"body_parts_before_{next_month}", "body_parts_default")
    assert {table.name: before.tuples(INDEXES, {"table": table.name}) for table in TABLES} == indexes
    assert before.one("SELECT has_table_privilege('pg_monitor', 'events', 'SELECT') AS may") == {"may": 1}
    assert [month.name for month in before.months.standing()] == [f"before_{next_month}", next_month]
    assert before.months.missing(now()) == []
    with before.write() as tx:
        tx.run("DELETE FROM projects")
    assert held(before) == {table.name: [] for table in TABLES}
    assert before.migrate() == []


def test_what_breaks_off_leaves_what_was_there(before: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(before)
    rows = held(before)
    monkeypatch.setattr(month_tables, "BELONGING", {"nothing": ()})
    with pytest.raises(psycopg.errors.UndefinedTable):
        before.migrate()
    assert held(before) == rows and before.pending() == [schema.MONTHS]
    monkeypatch.undo()
    assert before.migrate() == [schema.MONTHS]


def test_an_event_takes_with_it_what_belongs_to_it(postgres: PostgresStore) -> None:
    event, *_ = fill(postgres)
    with postgres.write() as tx:
        assert tx.run("DELETE FROM events WHERE id = :id", {"id": event}) == 1
    rows = held(postgres)
    assert [len(rows[table.name]) for table in TABLES] == [0, 1, 0, 0]


def test_applying_it_again_changes_nothing_but_the_functions(postgres: PostgresStore) -> None:
    fill(postgres)
    rows = held(postgres)
    with postgres.write() as tx:
        tx.run("DELETE FROM migration_checksums WHERE name = :name", {"name": schema.MONTHS})
    assert postgres.migrate() == [schema.MONTHS]
    assert held(postgres) == rows
