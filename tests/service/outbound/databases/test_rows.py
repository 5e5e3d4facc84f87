"""The tables of a database from a row for each column."""

from webapp.service.outbound.databases.rows import Column, Table, tables_of


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
