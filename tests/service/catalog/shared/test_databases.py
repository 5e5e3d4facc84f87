"""Tables and columns of every database, against a real server of each kind.

The actions of every database, against a real server of each kind.

New rows of every database, against a real server of each kind.
"""

from typing import Any

import pytest

from tests.service.catalog.shared.conftest import DatabaseHarness
from webapp.service.catalog.shared import databases

pytestmark = pytest.mark.parametrize("database", ["mysql", "postgresql"], indirect=True, scope="session")
EMMA = {"column_id": 1, "column_title": "Emma", "column_pages": 474, "column_bought": "2024-02-29"}


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


def shown(props: dict[str, dict[str, Any]]) -> dict[str, tuple[Any, bool]]:
    fields = {name: prop for name, prop in props.items() if name.startswith("column_")}
    return {name.removeprefix("column_"): (prop["type"], bool(prop.get("optional"))) for name, prop in fields.items()}


def test_a_row_goes_in_and_is_found(database: DatabaseHarness) -> None:
    row, summary = database.action("insert-row").ret(table=database.books, column_in_print=True, **EMMA)
    assert (row["id"], row["title"], row["price"], row["shelf"]) == (1, "Emma", "9.99", "E")
    assert (row["in_print"] == 1, row["bought"]) == (True, "2024-02-29")
    assert summary == f"Inserted 1 row into {database.books}"
    find = database.action("find-rows")
    assert find.ret(table=database.books)[0] == [row]
    pages = database.quoted("pages")
    assert find.ret(table=database.books, column=pages, value="474", order_by=pages)[0] == [row]
    assert find.ret(table=database.books, column=pages) == ([], f"Found 0 rows in {database.books}")


def test_a_row_whose_number_the_server_gives_comes_back(database: DatabaseHarness) -> None:
    row, _ = database.action("insert-row").ret(table=database.books, column_title="Emma")
    assert row["id"] > 0 and row["shelf"] == "E"
    values = database.action("insert-row").ret(table=database.named("many"), column_n=5)[0]
    assert values == {"n": 5}


def test_the_columns_of_the_table_become_fields(database: DatabaseHarness) -> None:
    fields = {"pages": ("integer", True), "price": ("string", True), "in_print": ("boolean", True)}
    fields |= {"bought": ("string", True)}
    insert = shown(database.action("insert-row").reload(table=database.books))
    assert insert == {"id": ("integer", True), "title": ("string", False), **fields}
    upsert = shown(database.action("upsert-row").reload(table=database.books))
    assert upsert == {"id": ("integer", False), "title": ("string", False), **fields}
    update = shown(database.action("update-row").reload(table=database.books))
    assert update == {"id": ("integer", True), "title": ("string", True), **fields}
    shared = [name for name in database.action("update-row").reload() if name != "schema"]
    assert shared == ["account", "table", "row", "column", "value"]


def test_rows_are_changed(database: DatabaseHarness) -> None:
    database.action("insert-row").ret(table=database.books, **EMMA)
    chosen = {"table": database.books, "column": database.quoted("title")}
    update = database.action("update-row")
    assert update.ret(**chosen, value="Emma", column_pages=5) == (
        {"row_count": 1},
        f"Updated 1 row of {database.books}",
    )
    assert update.ret(**chosen, value="Emma", column_pages=5)[0] == {"row_count": 1}  # it is so already
    assert update.ret(**chosen, value="Lady Susan", column_pages=6)[0] == {"row_count": 0}
    assert database.ask("select title, pages from books") == [{"title": "Emma", "pages": 5}]
    assert "at least one column" in update.error(**chosen, value="Emma")


def test_a_row_is_added_or_changed_by_its_key(database: DatabaseHarness) -> None:
    upsert = database.action("upsert-row")
    row, summary = upsert.ret(table=database.books, **EMMA)
    assert (row["pages"], summary) == (474, f"Wrote 1 row to {database.books}")
    row, _ = upsert.ret(table=database.books, column_id=1, column_title="Emma", column_pages=500)
    assert (row["pages"], row["bought"]) == (500, "2024-02-29")
    assert database.ask("select count(*) as n from books") == [{"n": 1}]
    assert "no primary key" in upsert.error(table=database.named("many"), column_n=1)


def test_a_caller_without_a_form_names_tables_and_columns_plainly(database: DatabaseHarness) -> None:
    plain = {"table": "books"} if database.slug == "mysql" else {"schema": "public", "table": "books"}
    emma = {"id": 1, "title": "Emma", "pages": 474}
    assert database.action("insert-row").ret(**plain, row=emma)[0]["pages"] == 474
    find = database.action("find-rows")
    assert [row["title"] for row in find.ret(**plain, column="pages", value="474")[0]] == ["Emma"]
    update = database.action("update-row")
    assert update.ret(**plain, column="title", value="Emma", row={"pages": None})[0] == {"row_count": 1}
    assert database.ask("select title, pages from books") == [{"title": "Emma", "pages": None}]
    row, _ = database.action("upsert-row").ret(**plain, row={**emma, "title": "Lady Susan"})
    assert (row["title"], row["pages"]) == ("Lady Susan", 474)
    assert "no column author" in update.error(**plain, column="title", value="Emma", row={"author": "Jane"})
    assert "fills the column shelf" in update.error(**plain, column="title", value="Emma", row={"shelf": "A"})
    assert database.action("delete-rows").ret(**plain, column="title", value="Lady Susan")[0] == {"row_count": 1}


def test_rows_are_deleted(database: DatabaseHarness) -> None:
    database.action("insert-row").ret(table=database.books, **EMMA)
    database.action("insert-row").ret(table=database.books, column_id=2, column_title="Persuasion")
    delete = database.action("delete-rows")
    chosen = {"table": database.books, "column": database.quoted("title")}
    assert delete.ret(**chosen, value="Emma") == ({"row_count": 1}, f"Deleted 1 row of {database.books}")
    assert database.ask("select title from books") == [{"title": "Persuasion"}]
    assert delete.ret(table=database.books, column=database.quoted("pages"))[0] == {"row_count": 1}  # that has none


@pytest.mark.parametrize("name", ["update-row", "delete-rows"])
def test_a_name_is_taken_from_the_server_only(database: DatabaseHarness, name: str) -> None:
    action = database.action(name)
    assert "no column" in action.error(table=database.books, column="1 = 1 or title", value="x", column_pages=1)
    assert "There is no table" in action.error(table="books; drop table books", column="x", column_pages=1)


def test_a_query_with_parameters(database: DatabaseHarness) -> None:
    execute = database.action("execute-query")
    marks = ("$1::int", "$2::text") if database.slug == "postgresql" else ("?", "?")
    query = {"query": f"select {marks[0]} + 1 as n, {marks[1]} as t", "params": [41, "x'; drop table books"]}
    result, summary = execute.ret(sql=query)
    assert result == {"rows": [{"n": 42, "t": "x'; drop table books"}], "row_count": 1, "command": "SELECT"}
    assert summary == "SELECT: 1 row"


def add(database: DatabaseHarness, *titles: str) -> None:
    values = ", ".join(f"({number}, '{title}')" for number, title in enumerate(titles, _count(database) + 1))
    database.ask(f"insert into books (id, title) values {values}")


def _count(database: DatabaseHarness) -> int:
    return int(database.ask("select count(*) as n from books")[0]["n"])


def test_each_new_row_is_reported_once(database: DatabaseHarness) -> None:
    add(database, *"abcdefg")
    trigger = database.trigger("new-row", table=database.books, column=database.quoted("id"))
    assert [event.id for event in trigger.deploy()] == ["3", "4", "5", "6", "7"]
    assert trigger.tick() == []
    add(database, *(f"title {number}" for number in range(databases.PAGE + 1)))
    events = trigger.tick()
    assert [event.id for event in events] == [str(number) for number in range(8, 109)]
    assert (events[0].summary, events[0].event["title"]) == ("id 8", "title 0")
    assert trigger.tick() == []


def test_a_table_may_begin_empty(database: DatabaseHarness) -> None:
    trigger = database.trigger("new-row", table=database.books, column=database.quoted("title"))
    assert trigger.deploy() == []
    add(database, "Emma")
    assert [event.id for event in trigger.tick()] == ["Emma"]
