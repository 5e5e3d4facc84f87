"""Moving: both databases are looked at first, and one that is half there is not opened."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.once import postgres as databases
from webapp.errors import Conflict, Invalid, Unavailable
from webapp.kit.clock import FakeClock
from webapp.service.domain.base import generations
from webapp.service.domain.instance import database_move, opening
from webapp.setting_values import BadSetting
from webapp.settings import Settings
from webapp.store import move
from webapp.store.contract import Store
from webapp.store.move import total
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import open_store

NEW = "INSERT INTO page_changes (name, n, at) VALUES (:name, 1, 1)"


@pytest.fixture
def embedded(settings: Settings) -> Settings:
    """Settings whose embedded database holds a row."""
    with closing(open_store(settings)) as store:
        store.migrate()
        add(store, "look")
    return settings


@pytest.fixture
def server(settings: Settings) -> Iterator[Settings]:
    """Settings with an empty PostgreSQL database."""
    name = databases.new()
    yield replace(settings, database_url=databases.url(name))
    databases.drop(name)


def add(store: Store, name: str) -> None:
    with store.write() as tx:
        tx.run(NEW, {"name": name})


def silent(_: str) -> None:
    """Nobody reads the lines."""


def test_there_and_back(embedded: Settings, server: Settings, clock: FakeClock, tmp_path: Path) -> None:
    there = database_move.carry_over(embedded, server, clock, silent)
    folder = database_move.target_of(server, str(tmp_path / "new"))
    back = database_move.carry_over(server, folder, clock, silent)
    assert there == back and total(there).rows == 1
    with closing(open_store(folder)) as store:
        assert store.tuples("SELECT name FROM page_changes") == [("look",)]
    assert folder.database == tmp_path / "new" / "patchbay.db" and folder.database.stat().st_mode & 0o77 == 0


def test_where_it_cannot_begin(embedded: Settings, server: Settings, clock: FakeClock, tmp_path: Path) -> None:
    def refused(source: Settings, target: Settings, error: type[Exception], pattern: str) -> None:
        with pytest.raises(error, match=pattern):
            database_move.carry_over(source, target, clock, silent)

    refused(embedded, embedded, Invalid, "is in use already")
    refused(server, server, Invalid, "is in use already")
    refused(replace(embedded, data=tmp_path), server, Invalid, "There is no database")
    refused(server, embedded, Conflict, "There is an installation in the database to move to")
    away = database_move.target_of(embedded, "postgresql://patchbay@127.0.0.1:9/patchbay")
    refused(embedded, away, Unavailable, "^--to leads to no database")
    with pytest.raises(BadSetting, match=r"^--to must be an address"):
        database_move.target_of(embedded, "mysql://localhost/patchbay")


def test_nothing_may_run_on_either(embedded: Settings, server: Settings, clock: FakeClock) -> None:
    with closing(SQLiteStore(embedded.database)), pytest.raises(Conflict, match="is running on"):
        database_move.carry_over(embedded, server, clock, silent)
    with closing(open_store(server)) as store:
        generations.beat(store, clock, 1)
        for source, target in [(embedded, server), (server, replace(embedded, data=embedded.data / "new"))]:
            with pytest.raises(Conflict, match="stop it on every machine first"):
                database_move.carry_over(source, target, clock, silent)
        clock.advance(generations.MISSED)
        database_move.carry_over(embedded, server, clock, silent)


def test_both_are_of_this_version(embedded: Settings, server: Settings, clock: FakeClock) -> None:
    folder = replace(embedded, data=embedded.data / "new")
    database_move.carry_over(embedded, folder, clock, silent)
    for settings in (embedded, folder):
        with closing(sqlite3.connect(settings.database)) as connection:
            connection.execute("DROP TABLE moves")
            for record in ("_sqlite_migrations", "migration_checksums"):
                connection.execute(f"DELETE FROM {record} WHERE name LIKE 'm%_moves'")
            connection.commit()
    with pytest.raises(Conflict, match="The database to move is of an earlier version"):
        database_move.carry_over(embedded, server, clock, silent)
    with pytest.raises(Conflict, match="The database to move to is of an earlier version"):
        database_move.carry_over(server, folder, clock, silent)


def test_a_database_that_is_half_there_is_not_opened(embedded: Settings, server: Settings, clock: FakeClock) -> None:
    def stop(line: str) -> None:
        raise KeyboardInterrupt(line)

    with pytest.raises(KeyboardInterrupt):
        database_move.carry_over(embedded, server, clock, stop)
    with pytest.raises(Conflict, match="A move into this database is not finished"):
        opening.open_service(server, clock)
    with pytest.raises(Conflict, match="A move into this database is not finished"):
        database_move.carry_over(server, replace(embedded, data=embedded.data / "new"), clock, silent)
    database_move.carry_over(embedded, server, clock, silent)
    with closing(open_store(server)) as store:
        move.refuse_unfinished(store)


def test_a_place_is_named_without_its_password(settings: Settings) -> None:
    target = database_move.target_of(settings, "postgresql://me:secret@db.example.com:5433/patchbay?sslmode=require")
    assert database_move.place(target) == "postgresql://db.example.com:5433/patchbay"
