"""Months are made ahead, take in what came while they were missing, and are dropped, even by a role that only serves.

A database of before months is taken over as it is: its rows, indexes, keys and grants, all or nothing.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from tests.once import postgres as databases
from webapp.errors import Unavailable, Unwritable
from webapp.kit.clock import DAY, now
from webapp.kit.crypto import ordered_id, ordered_id_at
from webapp.store.months import Month, MonthCount, name_of, number_at, number_of, start_of
from webapp.store.postgres import months, schema
from webapp.store.postgres.months import TABLES
from webapp.store.postgres.store import PostgresStore

OLD = start_of(number_of("2025_02"))
INDEXES = (
    "SELECT replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') FROM pg_index JOIN pg_class ON indrelid = "
    "pg_class.oid WHERE relname = :table ORDER BY 1"
)


def at(monkeypatch: pytest.MonkeyPatch, moment: int) -> None:
    """Let ids be made at ``moment``."""
    monkeypatch.setattr(time, "time_ns", lambda: moment * 1_000_000)


def test_this_month_and_the_next_are_there(postgres: PostgresStore) -> None:
    this = number_at(now())
    assert [month.name for month in postgres.months.existing()] == [name_of(this), name_of(this + 1)]
    later = start_of(this + 2)
    assert postgres.months.missing(later) == [name_of(this + 2), name_of(this + 3)]
    postgres.months.ensure(later)
    assert postgres.months.missing(later) == []


def test_what_came_while_its_month_was_missing_is_taken_in(
    postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, OLD)
    fill(postgres)
    assert {table: {place for _, place in rows} for table, rows in held(postgres).items()}["events"] == {
        "events_default"
    }
    assert postgres.months.strays() == 1
    postgres.months.make(OLD, OLD + 31 * DAY)
    rows = held(postgres)
    assert [place for _, place in rows["events"] + rows["deliveries"] + rows["delivery_attempts"]] == [
        "events_2025_02", "deliveries_2025_02", "delivery_attempts_2025_02",
    ]  # fmt: skip
    assert [place for _, place in rows["body_parts"]] == ["body_parts_2025_02", "body_parts_default"]
    assert postgres.months.strays() == 0
    assert [month.name for month in postgres.months.existing()][:2] == ["2025_02", "2025_03"]


def test_a_month_goes_in_two_steps(postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, OLD)
    postgres.months.make(OLD, OLD)
    fill(postgres)
    with postgres.write() as tx:
        tx.run("INSERT INTO counters (name, n) VALUES ('a', 5)")
        postgres.months.detach(tx, Month("2025_02"))
    (month, *_) = postgres.months.existing()
    assert month == Month("2025_02", attached=False)
    assert [len(rows) for rows in held(postgres).values()] == [0, 1, 0, 0]
    assert postgres.months.counts(month) == [MonthCount(None, "events", 1)]
    with postgres.write() as tx:
        postgres.months.drop(tx, month, {"a": 2, "b": 1})
    assert postgres.all("SELECT name, n FROM counters WHERE name IN ('a', 'b')") == [{"name": "a", "n": 3}]
    assert month.name not in [each.name for each in postgres.months.existing()]


def test_nobody_waits_behind_a_month_that_others_read(
    postgres: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, OLD)
    postgres.months.make(OLD, OLD)
    with psycopg.connect(url) as reader:
        reader.execute("SELECT 1 FROM events")
        with pytest.raises(Unavailable), postgres.write() as tx:
            postgres.months.detach(tx, Month("2025_02"))
    assert postgres.months.existing()[0].attached


def test_who_only_serves_makes_and_drops_months_and_a_stranger_does_not(postgres: PostgresStore, url: str) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        for role in ("serving_months", "stranger"):
            owner.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'")
        owner.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO serving_months")
        owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO stranger")
    try:
        for role, may in (("serving_months", True), ("stranger", False)):
            with closing(PostgresStore(f"postgresql://{role}:secret@{url.partition('@')[2]}", connections=2)) as store:
                if not may:
                    with pytest.raises(Unwritable, match="may not write"):
                        store.months.make(OLD, OLD)
                    continue
                store.months.make(OLD, OLD)
                with store.write() as tx:
                    store.months.detach(tx, Month("2025_02"))
                    store.months.drop(tx, Month("2025_02"), {})
                with pytest.raises(psycopg.errors.InvalidParameterValue), store.write() as tx:
                    store.months.drop(tx, Month("2025_02; DROP TABLE users"), {})
    finally:
        with psycopg.connect(url, autocommit=True) as owner:
            for role in ("serving_months", "stranger"):
                owner.execute(f"DROP OWNED BY {role}")
                owner.execute(f"DROP ROLE {role}")


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """A database of a version that had no months."""
    name = databases.new("template0")
    with closing(PostgresStore(databases.url(name), connections=2)) as store:
        with monkeypatch.context() as patched:
            patched.setattr(months, "convert", lambda session: None)
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
    assert [month.name for month in before.months.existing()] == [f"before_{next_month}", next_month]
    assert before.months.missing(now()) == []
    with before.write() as tx:
        tx.run("DELETE FROM projects")
    assert held(before) == {table.name: [] for table in TABLES}
    assert before.migrate() == []


def test_what_breaks_off_leaves_what_was_there(before: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(before)
    rows = held(before)
    monkeypatch.setattr(months, "BELONGING", {"nothing": ()})
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


def test_functions_that_change_need_a_new_number() -> None:
    digest = hashlib.sha256("".join(months.functions("public")).encode()).hexdigest()
    assert (schema.MONTHS, digest[:16]) == ("functions_months_2", "322512777ee79436")


def test_the_database_and_we_mean_the_same_ids(postgres: PostgresStore) -> None:
    numbers = range(number_of("2024_12"), number_of("2027_03"))
    rows = postgres.tuples(
        "SELECT patchbay_id_at('evt', n), patchbay_month_name(n) FROM generate_series(24299, 24325) AS n ORDER BY n"
    )
    assert rows == [(ordered_id_at("evt", start_of(number)), name_of(number)) for number in numbers]
