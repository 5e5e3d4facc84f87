"""Tables and columns of every database, against a real server of each kind."""

import pytest

from tests.service.catalog.shared.conftest import DatabaseHarness

pytestmark = pytest.mark.parametrize("database", ["mysql", "postgresql"], indirect=True, scope="session")


def test_tables_are_searched(database: DatabaseHarness) -> None:
    find = database.action("find-rows")
    schema = database.books.split(".")[0].strip("`")
    books, many = ((f"{schema}.{table}", database.named(table)) for table in ("books", "many"))
    assert find.options("table") == [books, many]
    assert find.options("table", query="BOOK") == [books]
    assert find.options("table", query="%") == []
    assert find.options("table", page=1) == []


def test_columns_are_those_of_the_table(database: DatabaseHarness) -> None:
    find = database.action("find-rows")
    assert find.options("column", table=database.named("many")) == [("n", database.quoted("n"))]
    assert "No table is chosen yet" in find.error(table=None)


@pytest.mark.parametrize(
    ("fields", "said"), [({"password": "wrong"}, "password"), ({"port": "x"}, "port of this account")]
)
def test_what_is_wrong_with_the_account_is_said(database: DatabaseHarness, fields: dict[str, str], said: str) -> None:
    assert said in database.action("execute-query", **fields).error(sql={"query": "select 1"})
