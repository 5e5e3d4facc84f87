"""Who made the database is noticed, and who only serves needs no right to change its tables."""

import hashlib
import unicodedata
from contextlib import closing

import psycopg
import pytest

from tests.once import postgres as databases
from webapp.errors import Unwritable
from webapp.store.contract import WrongSchema
from webapp.store.migrations import SCHEMA
from webapp.store.postgres import folding, schema
from webapp.store.postgres.sql import definitions
from webapp.store.postgres.store import PostgresStore

BROKEN = "CREATE TABLE users (x INTEGER)"
UNKNOWN = "INSERT INTO migration_checksums (name, sha256) VALUES ('m999_later', 'x')"
CHANGED = "UPDATE migration_checksums SET sha256 = 'x' WHERE name = 'm002_preferences'"


@pytest.mark.parametrize(
    ("change", "sentence"), [(UNKNOWN, "newer version.*m999_later"), (CHANGED, "m002_preferences")]
)
def test_a_database_of_another_version_is_refused(postgres: PostgresStore, change: str, sentence: str) -> None:
    with postgres.write() as tx:
        tx.run(change)
    for verb in (postgres.pending, postgres.migrate):
        with pytest.raises(WrongSchema, match=sentence):
            verb()


def test_functions_of_an_earlier_version_are_replaced(postgres: PostgresStore) -> None:
    with postgres.write() as tx:
        tx.run("UPDATE migration_checksums SET name = 'functions_0' WHERE name = :name", {"name": schema.FUNCTIONS})
    assert postgres.pending() == [schema.FUNCTIONS]


def test_functions_that_change_need_a_new_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the characters of Unicode 3.2 alone, which every Python knows and folds alike."""
    known = [pair for pair in folding._changed() if unicodedata.ucd_3_2_0.category(pair[0]) != "Cn"]
    monkeypatch.setattr(folding, "_changed", lambda: iter(known))
    digest = hashlib.sha256("".join(folding.functions()).encode()).hexdigest()
    assert (schema.FUNCTIONS, digest[:16]) == ("functions_1", "ad2f2c55b9e80d64")


def test_a_migration_that_breaks_off_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    name = databases.new("template0")
    with closing(PostgresStore(databases.url(name), connections=2)) as store:
        last = SCHEMA.migration(SCHEMA.names[-1]).sql
        monkeypatch.setattr(
            "webapp.store.postgres.schema.definitions", lambda sql: [BROKEN] if sql == last else definitions(sql)
        )
        with pytest.raises(psycopg.errors.DuplicateTable):
            store.migrate()
        assert store.tuples("SELECT 1 FROM pg_tables WHERE schemaname = 'public'") == []
    databases.drop(name)


def test_one_role_migrates_and_another_serves() -> None:
    """As the manual says: the one owns the tables, the other reads and writes rows."""
    name = databases.new("template0")
    address = databases.url(name)
    with psycopg.connect(address, autocommit=True) as owner:
        owner.execute("CREATE ROLE serving LOGIN PASSWORD 'secret'")
        owner.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO serving")
    serving = "postgresql://serving:secret@" + address.partition("@")[2]
    with closing(PostgresStore(serving, connections=2)) as store:
        with pytest.raises(WrongSchema, match="`patchbay migrate` with the address of the role that owns"):
            store.migrate()
        assert store.tuples("SELECT 1 FROM pg_tables WHERE schemaname = 'public'") == []
    with closing(PostgresStore(address, connections=2)) as store:
        store.migrate()
    with closing(PostgresStore(serving, connections=2)) as store:
        assert store.migrate() == []
        with store.write() as tx:
            tx.run("INSERT INTO counters (name, n) VALUES ('a', 1)")
        assert store.one("SELECT holds(name, 'A') AS held FROM counters") == {"held": 1}
        with pytest.raises(Unwritable, match="may not write"), store.write() as tx:
            tx.run("CREATE TABLE more (n INTEGER)")
    with psycopg.connect(address, autocommit=True) as owner:
        owner.execute("DROP OWNED BY serving")
        owner.execute("DROP ROLE serving")
    databases.drop(name)
