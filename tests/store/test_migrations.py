"""The schema: migrations in their order, each of its whole file, and none that leaves half of itself."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

import webapp.store
from webapp.store.migrations import migrations
from webapp.store.sqlite import SQLiteStore

SCHEMA = Path(webapp.store.__file__).parent / "schema"
MADE = re.compile(r"^CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)", re.MULTILINE)
RELEASED = [  # installations have applied these: none may be renamed, reordered or left out
    "m001_foundation",
    "m002_preferences",
    "m004_runs",
    "m005_component_drafts",
    "m006_triggers",
    "m007_events",
    "m008_workspace",
    "m009_ended_tokens",
]


def test_each_file_is_a_migration_in_the_order_of_their_numbers(data: Path) -> None:
    with closing(SQLiteStore(data / "patchbay.db")) as store:
        pending = store.pending()
    assert pending == sorted(file.stem for file in SCHEMA.iterdir())
    assert pending[: len(RELEASED)] == RELEASED


def test_every_statement_of_every_file_is_run(store: SQLiteStore) -> None:
    declared = set[tuple[str, str]]()
    for file in sorted(SCHEMA.iterdir()):
        declared -= {("index", name) for name in re.findall(r"^DROP INDEX (\w+)", file.read_text(), re.MULTILINE)}
        declared |= {(kind.lower(), name) for kind, name in MADE.findall(file.read_text())}
    rows = store.all("SELECT type, name FROM sqlite_master WHERE tbl_name NOT LIKE '%sqlite_%' AND sql IS NOT NULL")
    assert {(row["type"], row["name"]) for row in rows} == declared
    assert ("table", "projects") in declared


def test_an_older_database_gets_what_it_lacks_and_keeps_what_it_holds(data: Path) -> None:
    path = data / "patchbay.db"
    with closing(sqlite3.connect(path)) as connection:
        migrations.apply(Database(connection), stop_before="m008_workspace")
        connection.execute("INSERT INTO counters (name, n) VALUES ('accounts', 7)")
        connection.commit()
    with closing(SQLiteStore(path)) as store:
        assert store.pending()[0] == "m008_workspace"
        assert store.migrate()[:2] == ["m008_workspace", "m009_ended_tokens"]
        assert store.migrate() == []
        assert store.all("SELECT * FROM counters") == [{"name": "accounts", "n": 7}]
        assert store.all("SELECT ended FROM connect_tokens") == []


def test_an_interrupted_migration_leaves_no_trace(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(db: Database) -> None:
        db.execute("CREATE TABLE half (id TEXT)")
        raise KeyboardInterrupt

    path = data / "patchbay.db"
    with closing(SQLiteStore(path)) as store:
        monkeypatch.setattr(migrations, "_migrations", list(migrations._migrations))
        migrations(name="m999_breaks")(breaks)
        with pytest.raises(KeyboardInterrupt):
            store.migrate()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall() == []
    monkeypatch.undo()
    with closing(SQLiteStore(path)) as store:
        assert store.migrate() == [migration.name for migration in migrations._migrations]
