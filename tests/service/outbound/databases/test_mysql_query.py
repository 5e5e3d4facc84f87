"""One statement against a real server of this machine: rows as JSON, parameters, refusals, tables and the deadline."""

import json
import threading
import time
from ipaddress import ip_address

import pytest

from tests.fakes.databases.mysql_server import server as running
from webapp.service.outbound.databases.accounts import DatabaseAccount
from webapp.service.outbound.databases.mysql_query import query, tables
from webapp.service.outbound.databases.rows import Column, Rows
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure


@pytest.fixture(scope="module")
def server():  # type: ignore[no-untyped-def]  # a generator of an account
    """A server with one table."""
    with running() as account:
        table = "create table books (id int auto_increment primary key, title varchar(40) collate utf8mb4_unicode_ci)"
        assert ask(account, table).command == "CREATE"
        yield account


def guard(account: DatabaseAccount) -> Guard:
    return Guard([f"db.test:{account.port}"], resolver=lambda *_: [ip_address("127.0.0.1")])


def ask(account: DatabaseAccount, statement: str, *params: object, **options: int) -> Rows:
    rows = query(guard(account), account, statement, params, **options)
    assert isinstance(rows, Rows), rows
    return rows


def refused(account: DatabaseAccount, statement: str, *params: object, deadline_s: float = 20.0) -> str:
    failure = query(guard(account), account, statement, params, deadline_s=deadline_s)
    assert isinstance(failure, Failure), failure
    return failure.sentence


def test_changes_are_committed_and_counted(server: DatabaseAccount) -> None:
    added = ask(server, "insert into books (title) values (?), (?)", "A", "B")
    assert (added.command, added.count, added.rows, added.last_id) == ("INSERT", 2, (), 1)
    same = ask(server, "/* all */ update books set title = title")
    assert (same.command, same.count) == ("UPDATE", 2)
    assert ask(server, "(select title from books where title = ?)", "B").rows == ({"title": "B"},)
    assert ask(server, "/**/" * 40 + "/*! select 1 */").command == "", "many comments take forever to read"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("18446744073709551615", 18446744073709551615),
        ("true", 1),
        ("null", None),
        ("1.5e0", 1.5),
        ("cast(12.30 as decimal(5, 2))", "12.30"),
        ("cast('2024-02-29' as date)", "2024-02-29"),
        ("timestamp '2024-02-29 12:00:00'", "2024-02-29 12:00:00"),
        ("time '-30:00:00'", "-30:00:00"),
        ("x'ff00'", "0xFF00"),
        ("json_object('a', 1)", '{"a": 1}'),  # MariaDB's JSON is a text
        ("'ü'", "ü"),
    ],
)
def test_every_value_is_json(server: DatabaseAccount, expression: str, value: object) -> None:
    (row,) = ask(server, f"select {expression} as v").rows
    assert row == {"v": value}
    json.dumps(row, allow_nan=False)


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("x'; drop table books; -- \\' \0", "x'; drop table books; -- \\' \0"),
        (5, 5),
        (1.5, 1.5),
        (True, 1),
        (None, None),
        ({"a": ["ü"]}, '{"a": ["\\u00fc"]}'),
        ([1, 2], "[1, 2]"),
    ],
)
def test_parameters(server: DatabaseAccount, param: object, value: object) -> None:
    assert ask(server, "select ? as v", param).rows == ({"v": value},)


@pytest.mark.parametrize(
    ("statement", "params", "said"),
    [
        ("select * from nowhere", (), "'shop.nowhere' doesn't exist"),
        ("selec 1", (), "syntax"),
        ("select 1; select 2", (), "syntax"),
        ("select ?; select 2", (1,), "syntax"),
        ("select ?", (), "syntax"),
        ("select ?", (1, 2), "EXECUTE"),
        ("select ?", ("\ud800",), "not text"),
        ("select '\ud800'", (), "not text"),
        ("load data local infile '/etc/passwd' into table books (title)", (), "local infile"),
        ("", (), "empty"),
    ],
)
def test_refused_statements(server: DatabaseAccount, statement: str, params: tuple[object, ...], said: str) -> None:
    sentence = refused(server, statement, *params)
    assert said.lower() in sentence.lower()
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_a_procedure_gives_the_rows_that_it_selects(server: DatabaseAccount) -> None:
    ask(server, "create procedure two() begin select 1 as a; select 2 as b; end")
    assert ask(server, "call two()").rows == ({"b": 2},)


def test_a_statement_past_its_deadline_ends_on_the_server_too(server: DatabaseAccount) -> None:
    started, threads = time.monotonic(), threading.active_count()
    assert "too long" in refused(server, "select sleep(30)", deadline_s=1.3)
    assert time.monotonic() - started < 1.5
    left = "select count(*) as n from information_schema.processlist where info = 'select sleep(30)'"
    assert ask(server, left).rows == ({"n": 0},)
    assert threading.active_count() == threads


def test_a_large_answer_is_counted_and_cut(server: DatabaseAccount) -> None:
    rows = ask(server, "select seq from seq_1_to_20000", max_rows=10)
    assert (len(rows.rows), rows.count, rows.cut) == (10, 20000, True)


def test_wrong_credentials_and_the_guard_say_so(server: DatabaseAccount) -> None:
    assert "password" in refused(DatabaseAccount("db.test", "ada", "wrong", "shop", server.port), "select 1")
    failure = query(Guard(), DatabaseAccount("127.0.0.1", "ada", "x", "shop", server.port), "select 1")
    assert isinstance(failure, Failure)
    assert "public" in failure.sentence


def test_the_tables_that_the_account_sees(server: DatabaseAccount) -> None:
    columns = (Column("id", "int", False, None), Column("title", "varchar", True, None))
    seen = tables(guard(server), server)
    assert isinstance(seen, tuple)
    (books,) = seen
    assert (books.schema, books.title, books.columns) == ("shop", "books", columns)
