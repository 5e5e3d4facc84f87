"""A database of another version is noticed, and a role that only serves needs no right to change its tables.

What the server finds in texts is what :func:`webapp.kit.text.holds` finds, and what the planner assumes about columns
is set as soon as they are there.
"""

import hashlib
import re
import unicodedata
from contextlib import closing

import psycopg
import pytest

from tests.once import postgres as databases
from webapp.errors import Unwritable
from webapp.kit.clock import now
from webapp.kit.text import fold, holds
from webapp.store.contract import WrongSchema
from webapp.store.migrations import SCHEMA
from webapp.store.months import name_of, number_at, start_of
from webapp.store.postgres import schema
from webapp.store.postgres.schema import definitions
from webapp.store.postgres.store import PostgresStore

BROKEN = "CREATE TABLE users (x INTEGER)"
UNKNOWN = "INSERT INTO migration_checksums (name, sha256) VALUES ('m999_later', 'x')"
CHANGED = "UPDATE migration_checksums SET sha256 = 'x' WHERE name = 'm002_preferences'"
TEXTS = (
    "", "Ada Lovelace", "ÄRZTE", "Ærø", "Straße", "STRASSE", "ẞ", "İstanbul", "ısı", "Σίσυφος ΣΑΣ", "ﬁnance",
    "Å Å A\u030a", "Đà Nẵng", "Łódź", "東京タワー", "パーティー", "한국어", "Ⅷ ㎏ ½", "ǅ ǆ", "ᏣᎳᎩ ꮳꮃꭹ", "🧵 %_\\ '",
    "a\u0301\u0323b", "ﷺ", "ſ ẛ", "ΐ ΰ ᾳ", "ŉ ǰ և", "\u0345", "x\u200dy", "𝔘𝔫𝔦", "Ꙁ ꙁ 𐐀 𐐨",
)  # fmt: skip
PARTS = (
    "",
    "a",
    "A",
    "ss",
    "ß",
    "ar",
    "ÄR",
    "i",
    "İ",
    "σ",
    "Σ",
    "fi",
    "kg",
    "タ",
    "ᄒ",
    "ꮳ",
    "dž",
    "%",
    "\\",
    "u",
    "1",
    "\u0301",
)
OPTIONS = (
    "SELECT attrelid::regclass::text, attname::text, replace(attoptions[1], 'n_distinct=', '')::FLOAT "
    "FROM pg_attribute WHERE attoptions IS NOT NULL"
)
COUNTED = "SELECT attname::text, n_distinct::FLOAT FROM pg_stats WHERE tablename = 'audit' AND attname = 'project_id'"


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
    known = [pair for pair in schema._changed() if unicodedata.ucd_3_2_0.category(pair[0]) != "Cn"]
    monkeypatch.setattr(schema, "_changed", lambda: iter(known))
    digest = hashlib.sha256("".join(schema.folding_functions()).encode()).hexdigest()
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


def test_types_of_columns_are_those_of_the_server() -> None:
    sql = (
        "-- a TEXT; of comments\nCREATE TABLE t (\n  a TEXT NOT NULL, -- why;\n  n INTEGER DEFAULT 1,\n  b BLOB\n);\n"
        "CREATE INDEX i ON t (a);\n"
    )
    table, index = definitions(sql)
    assert " ".join(table.split()) == 'CREATE TABLE t ( a TEXT COLLATE "C" NOT NULL, n BIGINT DEFAULT 1, b BYTEA )'
    assert index.strip(" \n;") == "CREATE INDEX i ON t (a)"


def test_texts_that_hold_a_part(postgres: PostgresStore) -> None:
    values = ", ".join(f"(CAST(:t{number} AS TEXT))" for number in range(len(TEXTS)))
    params = {f"t{number}": text for number, text in enumerate(TEXTS)}
    for part in PARTS:
        rows = postgres.tuples(f"SELECT holds(v.column1, :part) FROM (VALUES {values}) AS v", {**params, "part": part})
        assert [bool(row[0]) for row in rows] == [holds(text, part) for text in TEXTS], part


def test_every_letter_is_folded_as_python_does(postgres: PostgresStore) -> None:
    letters = [
        chr(n) for n in (*range(1, 0xD800), *range(0xE000, 0x1F000)) if unicodedata.category(chr(n))[0] in "LMNS"
    ]
    listed = "".join(letters)
    rows = postgres.tuples(
        "SELECT patchbay_fold(letter) FROM unnest(string_to_array(:listed, NULL)) WITH ORDINALITY AS t (letter, n) "
        "ORDER BY n",
        {"listed": listed},
    )
    assert [(a, b) for a, (b,) in zip(letters, rows, strict=True) if fold(a) != b] == []


def said(store: PostgresStore) -> dict[str, dict[str, float]]:
    """What stands with the columns of each table, which is the same for all its months."""
    tables: dict[str, dict[str, float]] = {}
    for table, column, share in store.tuples(OPTIONS):
        tables.setdefault(table, {})[column] = share
    for name in [name for name in tables if _MONTH.search(name)]:
        assert tables.pop(name) == tables[_MONTH.sub("", name)], name
    return tables


_MONTH = re.compile(r"_(default|(before_)?\d{4}_\d\d)$")


def test_it_stands_with_the_columns(postgres: PostgresStore) -> None:
    assert said(postgres) == schema.DISTINCT
    assert postgres.months is not None
    postgres.months.make(start_of(number_at(now()) + 2), start_of(number_at(now()) + 2))
    told = [table for table, _, _ in postgres.tuples(OPTIONS)]
    assert told.count(f"events_{name_of(number_at(now()) + 2)}") == len(schema.DISTINCT["events"])
    assert said(postgres) == schema.DISTINCT


def test_a_database_of_before_is_reported_and_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    name = databases.new("template0")
    with closing(PostgresStore(databases.url(name), connections=2)) as store:
        with monkeypatch.context() as patched:
            patched.setattr(schema, "set_statistics", lambda session: None)
            store.migrate()
        with store.write() as tx:
            tx.run("DELETE FROM migration_checksums WHERE name = :name", {"name": schema.STATISTICS})
            tx.run(
                "INSERT INTO audit (id, at, project_id, actor_kind, actor, noun, subject_id, verb, sentence) "
                "SELECT n::TEXT, n, 'one', '', '', '', '', '', '' FROM generate_series(1, 50) AS n"
            )
            tx.run("ANALYZE audit")
        assert said(store) == {} and dict(store.tuples(COUNTED)) == {"project_id": 1.0}
        assert store.migrate() == [schema.STATISTICS]
        assert said(store) == schema.DISTINCT
        assert dict(store.tuples(COUNTED)) == {"project_id": pytest.approx(schema.MANY)}
        assert store.migrate() == []
    databases.drop(name)


def test_those_that_are_one_rows_own_lead_the_only_index_that_finds_their_rows_in_order(
    postgres: PostgresStore,
) -> None:
    """With so few rows a planner might sort what another index finds, which would be all of a user's."""
    for table, columns in schema.DISTINCT.items():
        for column in (name for name, share in columns.items() if share == schema.ONE):
            leading = postgres.tuples(
                "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND "
                "attnum = indkey[0] WHERE indrelid = CAST(:table AS regclass) AND attname = :column",
                {"table": table, "column": column},
            )
            others = {f"{table}_external_user_id_name_slug_key"}  # a user has as many triggers as their quota allows
            assert len({name for (name,) in leading} - others) == 1, (table, column)
