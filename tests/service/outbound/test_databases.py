"""The tables of a database from a row for each column.

What an account of a database says of its server.

The kinds of databases by their names.
"""

import pytest

from webapp.service.outbound.databases import ENGINES, Column, DatabaseAccount, Table, account_of, tables_of

FIELDS = {"host": "db.test", "user": "ada", "password": "x", "database": "shop"}


def row(schema: str, table: str, column: str, own: bool, count: int | None) -> tuple[object, ...]:
    return (schema, table, column, "text", True, None, own, count)


def test_columns_are_gathered_by_table() -> None:
    rows = [row("public", "a", "id", True, 5), row("public", "a", "name", True, 5), row("other", "a", "id", False, 5)]
    own, other = tables_of(rows)
    assert own == Table("public", "a", "a", 5, (Column("id", "text", True, None), Column("name", "text", True, None)))
    assert (other.title, len(other.columns)) == ("other.a", 1)
    assert list(tables_of([])) == []


def test_rows_that_were_never_counted_are_unknown() -> None:
    tables = tables_of([row("public", name, "id", True, count) for name, count in (("a", -1), ("b", None), ("c", 0))])
    assert [table.rows for table in tables] == [None, None, 0]


@pytest.mark.parametrize(
    ("fields", "account"),
    [
        ({}, DatabaseAccount("db.test", "ada", "x", "shop", 3306)),
        ({"port": "5", "ssl_mode": "require"}, DatabaseAccount("db.test", "ada", "x", "shop", 5, "require")),
        ({"ssl_mode": "what"}, DatabaseAccount("db.test", "ada", "x", "shop", 3306)),
        ({"port": "0"}, None),
        ({"port": "x"}, None),
    ],
)
def test_fields(fields: dict[str, str], account: DatabaseAccount | None) -> None:
    assert account_of(FIELDS | fields, 3306) == account


def test_each_kind_has_its_usual_port() -> None:
    assert {name: engine().DEFAULT_PORT for name, engine in ENGINES.items()} == {"mysql": 3306, "postgres": 5432}
