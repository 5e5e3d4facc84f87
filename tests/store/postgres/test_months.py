"""Months are made ahead, take in what came while they were missing, and go at once: even by who only serves."""

import time
from contextlib import closing

import psycopg
import pytest

from tests.store.postgres.test_month_tables import fill, held
from webapp.errors import Unavailable, Unwritable
from webapp.kit.clock import DAY, now
from webapp.store.months import Month, MonthCount, name_of, number_at, number_of, start_of
from webapp.store.postgres.store import PostgresStore

OLD = start_of(number_of("2025_02"))


def at(monkeypatch: pytest.MonkeyPatch, moment: int) -> None:
    """Let ids be made at ``moment``."""
    monkeypatch.setattr(time, "time_ns", lambda: moment * 1_000_000)


def test_this_month_and_the_next_are_there(postgres: PostgresStore) -> None:
    this = number_at(now())
    assert [month.name for month in postgres.months.standing()] == [name_of(this), name_of(this + 1)]
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
    assert postgres.months.astray() == 1
    postgres.months.make(OLD, OLD + 31 * DAY)
    rows = held(postgres)
    assert [place for _, place in rows["events"] + rows["deliveries"] + rows["delivery_attempts"]] == [
        "events_2025_02", "deliveries_2025_02", "delivery_attempts_2025_02",
    ]  # fmt: skip
    assert [place for _, place in rows["body_parts"]] == ["body_parts_2025_02", "body_parts_default"]
    assert postgres.months.astray() == 0
    assert [month.name for month in postgres.months.standing()][:2] == ["2025_02", "2025_03"]


def test_a_month_goes_in_two_steps(postgres: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, OLD)
    postgres.months.make(OLD, OLD)
    fill(postgres)
    with postgres.write() as tx:
        tx.run("INSERT INTO counters (name, n) VALUES ('a', 5)")
        postgres.months.detach(tx, Month("2025_02"))
    (month, *_) = postgres.months.standing()
    assert month == Month("2025_02", attached=False)
    assert [len(rows) for rows in held(postgres).values()] == [0, 1, 0, 0]
    assert postgres.months.counts(month) == [MonthCount(None, "events", 1)]
    with postgres.write() as tx:
        postgres.months.drop(tx, month, {"a": 2, "b": 1})
    assert postgres.all("SELECT name, n FROM counters WHERE name IN ('a', 'b')") == [{"name": "a", "n": 3}]
    assert month.name not in [each.name for each in postgres.months.standing()]


def test_nobody_waits_behind_a_month_that_others_read(
    postgres: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, OLD)
    postgres.months.make(OLD, OLD)
    with psycopg.connect(url) as reader:
        reader.execute("SELECT 1 FROM events")
        with pytest.raises(Unavailable), postgres.write() as tx:
            postgres.months.detach(tx, Month("2025_02"))
    assert postgres.months.standing()[0].attached


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
