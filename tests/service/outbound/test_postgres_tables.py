"""Rows of columns, put together as tables: own ones by their bare names, rows only where they were ever counted."""

from webapp.service.outbound.postgres_tables import Column, Table, _tables


def row(schema: str, table: str, column: str, own: bool, count: int | None) -> tuple[object, ...]:
    return (schema, table, column, "text", True, None, own, count)


def test_columns_are_gathered_by_table() -> None:
    rows = [row("public", "a", "id", True, 5), row("public", "a", "name", True, 5), row("other", "a", "id", False, 5)]
    own, other = _tables(rows)
    assert own == Table("public", "a", "a", 5, (Column("id", "text", True, None), Column("name", "text", True, None)))
    assert (other.title, len(other.columns)) == ("other.a", 1)
    assert list(_tables([])) == []


def test_rows_that_were_never_counted_are_unknown() -> None:
    tables = _tables([row("public", name, "id", True, count) for name, count in (("a", -1), ("b", None), ("c", 0))])
    assert [table.rows for table in tables] == [None, None, 0]
