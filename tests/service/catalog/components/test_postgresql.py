"""PostgreSQL's actions against a real server of this machine."""

from collections.abc import Callable, Iterator

import pytest

from tests.fakes.databases.postgres_server import server
from tests.service.catalog.components.action_harness import ActionHarness
from webapp.service.components.executor import Executor
from webapp.service.outbound.databases import DatabaseAccount

Action = Callable[..., ActionHarness]
SCHEMA = """
    create table books (
        id int generated always as identity, title text not null, pages int, price numeric default 9.99,
        in_print boolean, facts jsonb, tags text[], bought date,
        shelf text generated always as (left(title, 1)) stored);
    create schema "old stuff";
    create table "old stuff"."odd ""name" ("a column" int not null);
    create table many (n int); """


@pytest.fixture(scope="module")
def account() -> Iterator[DatabaseAccount]:
    with server() as running:
        yield running


@pytest.fixture(scope="module")
def action(account: DatabaseAccount, runner: Executor) -> Action:
    """An action by its name, over an account of the server; ``changes`` are fields of the account."""

    def made(name: str, **changes: str) -> ActionHarness:
        fields = {"host": "127.0.0.1", "port": str(account.port), "database": account.database, "ssl_mode": "prefer"}
        fields |= {"user": account.user, "password": account.password} | changes
        return ActionHarness(
            runner, "postgresql", name, fields=fields, allow_hosts=(f"127.0.0.1:{account.port}",)
        )  # fmt: skip

    made("execute-query").ret(sql={"query": SCHEMA})
    return made


def shown(props: dict[str, dict[str, object]]) -> dict[str, tuple[object, bool]]:
    return {name: (one["type"], bool(one.get("optional"))) for name, one in props.items() if name.startswith("column_")}


def test_a_large_answer_is_cut(action: Action) -> None:
    found, summary = action("execute-query").ret(sql={"query": "select n from generate_series(1, 3000) n"})
    assert (len(found["rows"]), found["row_count"]) == (1000, 3000)
    assert summary == "SELECT: 3000 rows, of which 1000 are shown"


def test_the_words_of_the_server_reach_the_person(action: Action) -> None:
    execute = action("execute-query")
    said = execute.error(sql={"query": "select * from nowhere"})
    assert said == 'PostgreSQL refused the query: relation "nowhere" does not exist.'
    assert "password" in action("execute-query", password="wrong").error(sql={"query": "select 1"})
    assert "port" in action("execute-query", port="x").error(sql={"query": "select 1"})


def test_only_allowed_servers(account: DatabaseAccount, runner: Executor) -> None:
    fields = {"host": "127.0.0.1", "port": str(account.port), "database": "x", "user": "x", "password": "x"}
    said = ActionHarness(runner, "postgresql", "execute-query", fields=fields).error(sql={"query": "select 1"})
    assert "not on the public internet" in said


def test_tables_are_searched(action: Action) -> None:
    insert = action("insert-row")
    assert insert.options("table") == [
        ("public.books", "public.books"),
        ("public.many", "public.many"),
        ('old stuff.odd "name', '"old stuff"."odd ""name"'),
    ]
    assert insert.options("table", query="BOOK") == [("public.books", "public.books")]
    assert insert.options("table", query="%") == []
    assert insert.options("table", page=1) == []


def test_the_columns_of_the_table_appear(action: Action) -> None:
    insert = action("insert-row")
    assert list(insert.reload()) == ["account", "schema", "table", "row"]
    assert shown(insert.reload(table="public.books")) == {
        "column_title": ("string", False),
        "column_pages": ("integer", True),
        "column_price": ("string", True),
        "column_in_print": ("boolean", True),
        "column_facts": ("any", True),
        "column_tags": ("any", True),
        "column_bought": ("string", True),
    }


def test_rows_go_in_and_come_out(action: Action) -> None:
    given = {
        "title": "Emma",
        "pages": 474,
        "in_print": True,
        "facts": {"a": [1]},
        "tags": ["x"],
        "bought": "2024-02-29",
    }
    insert = action("insert-row")
    row, summary = insert.ret(table="public.books", **{f"column_{name}": value for name, value in given.items()})
    assert row == {"id": row["id"], "price": "9.99", "shelf": "E", **given}
    assert summary == "Inserted 1 row into public.books"
    insert.ret(table="public.books", column_title="Persuasion")
    odd, _ = insert.ret(**{"table": '"old stuff"."odd ""name"', "column_a column": 5})
    assert odd == {"a column": 5}

    find = action("find-rows")
    assert find.options("column", table='"old stuff"."odd ""name"') == [("a column", '"a column"')]
    titles = [one["title"] for one in find.ret(table="public.books", order_by="title")[0]]
    assert titles == ["Emma", "Persuasion"]
    assert [one["id"] for one in find.ret(table="public.books", column="pages", value="474")[0]] == [row["id"]]
    found, summary = find.ret(table="public.books", column="pages")
    assert ([one["title"] for one in found], summary) == (["Persuasion"], "Found 1 row in public.books")
    assert len(find.ret(table="public.books", limit=1)[0]) == 1


@pytest.mark.parametrize(
    ("props", "said"),
    [
        ({"table": "books; drop table books"}, "There is no table"),
        ({"table": "pg_catalog.nothing"}, "There is no table"),
        ({"table": None}, "No table is chosen yet"),
        ({"table": "public.books", "column": "1=1 or title"}, "no column"),
        ({"table": "public.books", "order_by": "title; drop table books"}, "no column"),
        ({"table": "public.books", "column": "pages", "value": "many"}, "invalid input syntax"),
    ],
)
def test_names_are_taken_from_the_server_only(action: Action, props: dict[str, str], said: str) -> None:
    assert said in action("find-rows").error(**props)


def test_a_missing_value_is_the_servers_word(action: Action) -> None:
    assert "not-null" in action("insert-row").error(table="public.books", column_pages=1)


def test_a_row_of_defaults(action: Action) -> None:
    assert action("insert-row").ret(table="public.many")[0] == {"n": None}
