"""What the planner is to think of columns stands with the columns, and is read as soon as there are rows."""

from contextlib import closing

import pytest

from tests.once import postgres as databases
from webapp.store.postgres import schema, statistics
from webapp.store.postgres.store import PostgresStore

OPTIONS = (
    "SELECT attrelid::regclass::text, attname::text, replace(attoptions[1], 'n_distinct=', '')::FLOAT "
    "FROM pg_attribute WHERE attoptions IS NOT NULL"
)
COUNTED = "SELECT attname::text, n_distinct::FLOAT FROM pg_stats WHERE tablename = 'audit' AND attname = 'project_id'"


def said(store: PostgresStore) -> dict[str, dict[str, float]]:
    """What stands with the columns of each table."""
    tables: dict[str, dict[str, float]] = {}
    for table, column, share in store.tuples(OPTIONS):
        tables.setdefault(table, {})[column] = share
    return tables


def test_it_stands_with_the_columns(postgres: PostgresStore) -> None:
    assert said(postgres) == statistics.DISTINCT


def test_a_database_of_before_is_told_and_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    name = databases.new("template0")
    with closing(PostgresStore(databases.url(name), connections=2)) as store:
        with monkeypatch.context() as patched:
            patched.setattr(statistics, "state", lambda session: None)
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
        assert said(store) == statistics.DISTINCT
        assert dict(store.tuples(COUNTED)) == {"project_id": pytest.approx(statistics.MANY)}
        assert store.migrate() == []
    databases.drop(name)


def test_those_that_are_one_rows_own_lead_the_only_index_that_finds_their_rows_in_order(
    postgres: PostgresStore,
) -> None:
    """With so few rows a planner might sort what another index finds, which would be all of a user's."""
    for table, columns in statistics.DISTINCT.items():
        for column in (name for name, share in columns.items() if share == statistics.ONE):
            leading = postgres.tuples(
                "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND "
                "attnum = indkey[0] WHERE indrelid = CAST(:table AS regclass) AND attname = :column",
                {"table": table, "column": column},
            )
            others = {f"{table}_external_user_id_name_slug_key"}  # a user has as many triggers as their quota allows
            assert len({name for (name,) in leading} - others) == 1, (table, column)
