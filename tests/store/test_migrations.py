"""The schema: migrations as their folder has them, and databases that they do not fit refused in one sentence."""

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

import webapp.store
from tests.store import lists
from webapp.store.contract import WrongSchema
from webapp.store.migrations import SCHEMA, Migration, Schema
from webapp.store.sqlite import SQLiteStore

FOLDER = Path(webapp.store.__file__).parent / "schema"
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
WITHOUT_CHECKSUMS = (
    "DROP TABLE migration_checksums",
    "DELETE FROM _sqlite_migrations WHERE name = 'm013_checksums'",
)


@pytest.fixture
def path(data: Path) -> Path:
    return data / "patchbay.db"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the schema, to be changed before :func:`use`."""
    return Path(shutil.copytree(FOLDER, tmp_path / "schema"))


@pytest.fixture
def use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Has stores use the migrations that :func:`folder` holds now, as a new version of Patchbay would."""
    return lambda: monkeypatch.setattr("webapp.store.sqlite.SCHEMA", Schema(folder))


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def migrate(path: Path) -> list[str]:
    with closing(SQLiteStore(path)) as store:
        return store.migrate()


def tables(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(path)) as connection:
        yield from (row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


def refusal(path: Path) -> str:
    """The sentence with which a store refuses ``path``, whether it is to be migrated or only looked at."""
    with closing(sqlite3.connect(path)) as connection:
        before = list(connection.iterdump())
    with closing(SQLiteStore(path)) as store:
        with pytest.raises(WrongSchema) as refused:
            store.migrate()
        with pytest.raises(WrongSchema) as seen:
            store.pending()
    assert refused.value.message == seen.value.message
    with closing(sqlite3.connect(path)) as connection:
        assert list(connection.iterdump()) == before, "nothing was done to it"
    return refused.value.message


def test_each_file_is_a_migration_in_the_order_of_their_numbers(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        pending = store.pending()
    assert pending == SCHEMA.names == sorted(file.stem for file in FOLDER.iterdir())
    assert pending[: len(RELEASED)] == RELEASED


def test_no_two_migrations_have_one_number() -> None:
    numbers = [name.partition("_")[0] for name in SCHEMA.names]
    assert len(set(numbers)) == len(numbers), "give the newer one the next number"


def test_every_statement_of_every_file_is_run(store: SQLiteStore) -> None:
    declared = set[tuple[str, str]]()
    for file in sorted(FOLDER.iterdir()):
        declared -= {("index", name) for name in re.findall(r"^DROP INDEX (\w+)", file.read_text(), re.MULTILINE)}
        declared -= {("table", name) for name in re.findall(r"^DROP TABLE (\w+)", file.read_text(), re.MULTILINE)}
        declared |= {(kind.lower(), name) for kind, name in MADE.findall(file.read_text())}
    rows = store.all("SELECT type, name FROM sqlite_master WHERE tbl_name NOT LIKE '%sqlite_%' AND sql IS NOT NULL")
    assert {(row["type"], row["name"]) for row in rows} == declared
    assert ("table", "projects") in declared


def test_an_older_database_gets_what_it_lacks_and_keeps_what_it_holds(path: Path, folder: Path) -> None:
    for file in folder.iterdir():
        if file.stem >= "m008_workspace":
            file.unlink()
    with closing(Database(path)) as database:
        Schema(folder).apply(database)
    execute(path, "INSERT INTO counters (name, n) VALUES ('accounts', 7)")
    with closing(SQLiteStore(path)) as store:
        assert store.pending()[0] == "m008_workspace"
        assert store.migrate()[:2] == ["m008_workspace", "m009_ended_tokens"]
        assert store.migrate() == []
        assert store.all("SELECT * FROM counters") == [{"name": "accounts", "n": 7}]
        assert store.all("SELECT ended FROM connect_tokens") == []


def test_drafts_of_people_are_kept_for_viewers(path: Path, folder: Path) -> None:
    for file in folder.iterdir():
        if file.stem >= "m036_portal":
            file.unlink()
    with closing(Database(path)) as database:
        Schema(folder).apply(database)
    execute(
        path,
        "INSERT INTO users (id, email, password_hash, role, created_at, updated_at)"
        " VALUES ('u_1', 'a', 'h', 'owner', 1, 1)",
        "INSERT INTO component_drafts VALUES ('u_1', 'slack-send', '{}', '', '[]', '', 7)",
    )
    with closing(SQLiteStore(path)) as store:
        store.migrate()
        (draft,) = store.all("SELECT viewer, user_id, external_user_id, component, updated_at FROM viewer_drafts")
        assert tuple(draft.values()) == ("u_1", "u_1", None, "slack-send", 7)
        with store.write() as tx:
            tx.run("DELETE FROM users", {})
        assert store.all("SELECT viewer FROM viewer_drafts") == []


def test_triggers_that_heard_events_continue_hearing_them(path: Path, folder: Path) -> None:
    for file in folder.iterdir():
        if file.stem >= "m052_event_listeners":
            file.unlink()
    with closing(Database(path)) as database:
        Schema(folder).apply(database)
    with closing(sqlite3.connect(path)) as connection:
        lists.insert(connection, "deployed_triggers", [{"id": "dc_1"}])
        connection.commit()
    execute(path, "INSERT INTO event_hooks VALUES ('dc_1', 'apn_1', 'T1', 'U1', '[\"message\"]')")
    with closing(SQLiteStore(path)) as store:
        assert store.migrate()[0] == "m052_event_listeners"
        (row,) = store.all("SELECT trigger_id, account_key, account_id, person, asked_at FROM event_listeners")
        assert tuple(row.values()) == ("dc_1", "T1", "apn_1", "U1", None)
        assert store.all("SELECT event_names FROM event_listeners") == [{"event_names": '["message"]'}]


def test_an_interrupted_migration_leaves_no_trace(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = Migration.apply

    def breaks(migration: Migration, database: Database) -> None:
        apply(migration, database)
        if migration.name == SCHEMA.names[-1]:
            raise KeyboardInterrupt

    with closing(SQLiteStore(path)) as store:
        monkeypatch.setattr(Migration, "apply", breaks)
        monkeypatch.setattr("webapp.store.sqlite.SCHEMA", Schema(FOLDER))
        with pytest.raises(KeyboardInterrupt):
            store.migrate()
    assert list(tables(path)) == []
    monkeypatch.undo()
    assert migrate(path) == SCHEMA.names


def test_a_new_file_is_a_new_migration(path: Path, folder: Path, use: Callable[[], None]) -> None:
    migrate(path)
    (folder / "m998_letters.sql").write_text(
        "-- somewhere.py\nCREATE TABLE letters (id TEXT);\nDROP INDEX runs_by_age;\n"
    )
    (folder / "m999_words.sql").write_text("CREATE TABLE words (id TEXT);\n")
    (folder / "README.md").write_text("no migration")
    use()
    assert migrate(path) == ["m998_letters", "m999_words"]
    assert {"letters", "words"} <= set(tables(path))
    assert migrate(path) == []


def test_a_migration_that_was_changed_after_it_was_applied_is_refused_by_its_file(
    path: Path, folder: Path, use: Callable[[], None]
) -> None:
    migrate(path)
    file = folder / "m002_preferences.sql"
    file.write_text(file.read_text().replace("theme TEXT NOT NULL", "theme TEXT"))
    (folder / "m999_words.sql").write_text("CREATE TABLE words (id TEXT);\n")
    use()
    assert refusal(path) == (
        f"{file} was changed after the database had been made with it. Install Patchbay anew; a change of the schema "
        "is a file of its own."
    )


def test_comments_and_line_breaks_are_no_change(path: Path, folder: Path, use: Callable[[], None]) -> None:
    migrate(path)
    file = folder / "m002_preferences.sql"
    text = file.read_text().replace("-- people/preferences.py", "-- elsewhere.py").replace(",  ", ", -- so\n\n  ")
    file.write_text(text)
    assert text != (FOLDER / file.name).read_text()
    use()
    assert migrate(path) == []


def test_a_newer_database_is_refused_by_what_is_not_known(path: Path) -> None:
    migrate(path)
    execute(
        path,
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('patchbay', 'm999_words', '')",
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('patchbay', 'm998_letters', '')",
    )
    assert refusal(path) == (
        "The database was made by a newer version of Patchbay: this one does not know m998_letters, m999_words. "
        "Install that version, or restore a backup that was made before."
    )


def test_a_database_from_before_checksums_gets_those_of_its_migrations(path: Path) -> None:
    migrate(path)
    with closing(Database(path)) as database:
        recorded = list(database["migration_checksums"].rows)
    execute(path, *WITHOUT_CHECKSUMS)
    assert migrate(path) == ["m013_checksums"]
    with closing(Database(path)) as database:
        adopted = list(database["migration_checksums"].rows)
    assert sorted(map(str, adopted)) == sorted(map(str, recorded))
    assert {row["name"] for row in adopted} == set(SCHEMA.names)


@pytest.mark.parametrize(
    ("change", "table", "migrations"),
    [
        ("ALTER TABLE users DROP COLUMN role", "users", "m001_foundation, m016_logins, m029_invitations"),
        (
            "ALTER TABLE runs ADD COLUMN more TEXT",
            "runs",
            "m004_runs, m012_lists, m014_begun_runs, m048_agents, m059_logs, m063_logs_by_outcome, m069_logs_of_rare",
        ),
        (
            "DROP INDEX runs_by_age",
            "runs",
            "m004_runs, m012_lists, m014_begun_runs, m048_agents, m059_logs, m063_logs_by_outcome, m069_logs_of_rare",
        ),
        ("DROP TABLE preferences", "preferences", "m002_preferences, m067_reconnect_mails"),
    ],
)
def test_a_database_of_an_early_version_with_other_tables_is_refused_by_their_names(
    path: Path, change: str, table: str, migrations: str
) -> None:
    migrate(path)
    execute(path, *WITHOUT_CHECKSUMS, change)
    assert refusal(path) == (
        f"The table {table} is not as {migrations} left it: the database was made by an early version of Patchbay, or "
        "changed by hand. Go back to that version, or begin with an empty PATCHBAY_DATA."
    )


def test_what_an_operator_added_is_left_alone(path: Path) -> None:
    migrate(path)
    execute(path, *WITHOUT_CHECKSUMS, "CREATE TABLE own (id TEXT)", "CREATE INDEX own_index ON runs (took_ms)")
    assert migrate(path) == ["m013_checksums"]
    with closing(SQLiteStore(path)) as store:
        assert store.pending() == []
    assert "own" in set(tables(path))
