"""The portable SQL becomes PostgreSQL's, and nothing else of it changes."""

import pytest

from webapp.store.postgres.sql import definitions, numbered


@pytest.mark.parametrize(
    ("sql", "text", "names"),
    [
        ("SELECT 1", "SELECT 1", ()),
        ("a = :a AND b = :b_2 OR a > :a", "a = $1 AND b = $2 OR a > $1", ("a", "b_2")),
        ("x = ':a' AND y = :a", "x = ':a' AND y = $1", ("a",)),
        ("x = 'it''s :b' AND y = :a", "x = 'it''s :b' AND y = $1", ("a",)),
        ('SELECT "odd:name", id::text, n % 2 FROM t', 'SELECT "odd:name", id::text, n % 2 FROM t', ()),
        ("SELECT 1 -- it's :a\n WHERE x = :b", "SELECT 1 -- it's :a\n WHERE x = $1", ("b",)),
        ("LIKE '100%' AND :é = 1", "LIKE '100%' AND :é = 1", ()),
    ],
)
def test_parameters_are_numbered(sql: str, text: str, names: tuple[str, ...]) -> None:
    assert numbered(sql, {name: f"the value of {name}" for name in ("b", "b_2", "a")}) == (
        text,
        [f"the value of {name}" for name in names],
    )


def test_types_of_columns_are_those_of_the_server() -> None:
    sql = (
        "-- a TEXT; of comments\nCREATE TABLE t (\n  a TEXT NOT NULL, -- why;\n  n INTEGER DEFAULT 1,\n  b BLOB\n);\n"
        "CREATE INDEX i ON t (a);\n"
    )
    table, index = definitions(sql)
    assert " ".join(table.split()) == 'CREATE TABLE t ( a TEXT COLLATE "C" NOT NULL, n BIGINT DEFAULT 1, b BYTEA )'
    assert index.strip(" \n;") == "CREATE INDEX i ON t (a)"
