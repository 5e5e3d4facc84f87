"""One statement against a real server of this machine: rows as JSON, parameters, refusals and the deadline."""

import json
import threading
import time
from ipaddress import ip_address

import pytest

from tests.fakes.databases.postgres_server import server as running
from webapp.service.outbound.databases.accounts import DatabaseAccount
from webapp.service.outbound.databases.postgres_query import query
from webapp.service.outbound.databases.rows import Rows
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure


@pytest.fixture(scope="module")
def server():  # type: ignore[no-untyped-def]  # a generator of an account
    """A server with one table."""
    with running() as account:
        made = ask(account, "create table books (id int generated always as identity, title text, price numeric)")
        assert (made.command, made.rows) == ("CREATE", ())
        yield account


def guard(account: DatabaseAccount) -> Guard:
    return Guard([f"db.test:{account.port}"], resolver=lambda *_: [ip_address("127.0.0.1")])


def ask(account: DatabaseAccount, statement: str, *params: object, **options: int) -> Rows:
    found = query(guard(account), account, statement, params, **options)
    assert isinstance(found, Rows), found
    return found


def refused(account: DatabaseAccount, statement: str, *params: object, **options: float) -> str:
    found = query(guard(account), account, statement, params, **options)  # type: ignore[arg-type]  # either option
    assert isinstance(found, Failure), found
    return found.sentence


def test_changes_are_committed_and_counted(server: DatabaseAccount) -> None:
    added = ask(server, "insert into books (title, price) values ($1, $2), ($3, $4)", "A", "1.50", "B", 2)
    assert (added.command, added.count, added.rows, added.cut) == ("INSERT", 2, (), False)
    returned = ask(server, "update books set price = price + 1 returning title, price", max_rows=1)
    assert (returned.count, returned.cut, returned.rows) == (2, True, ({"title": "A", "price": "2.50"},))
    assert ask(server, "select sum(price) as sum from books").rows == ({"sum": "5.50"},)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1::int8", 1),
        ("true", True),
        ("null", None),
        ("1.5::float8", 1.5),
        ("'NaN'::float8", "NaN"),
        ("'-Infinity'::float4", "-Infinity"),
        ("12.30::numeric", "12.30"),
        ("'2024-02-29'::date", "2024-02-29"),
        ("'infinity'::date", "infinity"),
        ("'0044-03-15 BC'::date", "0044-03-15 BC"),
        ("'2024-02-29 12:00+00'::timestamptz at time zone 'UTC'", "2024-02-29 12:00:00"),
        ("'1 day 2 hours'::interval", "1 day 02:00:00"),
        ("'\\xff00'::bytea", "\\xff00"),
        ("'10.0.0.0/8'::inet", "10.0.0.0/8"),
        ("'6f1b4c2e-0000-4000-8000-000000000000'::uuid", "6f1b4c2e-0000-4000-8000-000000000000"),
        ("int4range(1, 5)", "[1,5)"),
        ("array[1, 2]", [1, 2]),
        ("array['2024-02-29'::date]", ["2024-02-29"]),
        ("'{\"a\": [1.5]}'::jsonb", {"a": [1.5]}),
        ("row(1, 'x')", "(1,x)"),
        ("'ü'::text", "ü"),
    ],
)
def test_every_value_is_json(server: DatabaseAccount, expression: str, value: object) -> None:
    (row,) = ask(server, f"select {expression} as v").rows
    assert row == {"v": value}
    json.dumps(row, allow_nan=False)


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("text", "x'; drop table books", "x'; drop table books"),
        ("int", 5, 5),
        ("int", "5", 5),
        ("bool", True, True),
        ("date", "2024-02-29", "2024-02-29"),
        ("jsonb", {"a": 1}, {"a": 1}),
        ("jsonb", [{"a": 1}], [{"a": 1}]),
        ("int[]", [1, 2], [1, 2]),
        ("text", None, None),
    ],
)
def test_parameters(server: DatabaseAccount, kind: str, given: object, value: object) -> None:
    assert ask(server, f"select $1::{kind} as v", given).rows == ({"v": value},)


@pytest.mark.parametrize(
    ("statement", "params", "said"),
    [
        ("select * from nowhere", (), 'relation "nowhere" does not exist'),
        ("selec 1", (), "syntax error"),
        ("select $1::int; select 2", (1,), "multiple commands"),
        ("select $1::int", ("x",), "invalid input syntax"),
        ("select $1::text", (), "parameter"),
        ("select $1::text", ("a\0b",), "NUL"),
        ("select $1::text", ("\ud800",), "not text"),
        ("select '\ud800'", (), "not text"),
        ("copy books to stdout", (), "COPY"),
        ("select no_column from books", (), "no_column"),
    ],
)
def test_refused_statements(server: DatabaseAccount, statement: str, params: tuple[object, ...], said: str) -> None:
    sentence = refused(server, statement, *params)
    assert said.lower() in sentence.lower()
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_several_statements_are_one(server: DatabaseAccount) -> None:
    assert ask(server, "select 1 as a; select 2 as b").rows == ({"b": 2},)
    assert "division" in refused(server, "create table half (n int); select 1 / 0")
    assert "half" in refused(server, "select * from half")
    assert ask(server, "").rows == ()


def test_a_statement_past_its_deadline_ends_on_the_server_too(server: DatabaseAccount) -> None:
    started, threads = time.monotonic(), threading.active_count()
    assert "too long" in refused(server, "select pg_sleep(30)", deadline_s=1.3)
    assert time.monotonic() - started < 1.5
    left = "select count(*) as n from pg_stat_activity where query like 'select pg_sleep(30)%' and state = 'active'"
    assert ask(server, left).rows == ({"n": 0},)
    assert threading.active_count() == threads


def test_a_large_answer_is_counted_and_cut(server: DatabaseAccount) -> None:
    found = ask(server, "select n from generate_series(1, 20000) n", max_rows=10)
    assert (len(found.rows), found.count, found.cut) == (10, 20000, True)


def test_wrong_credentials_and_the_guard_say_so(server: DatabaseAccount) -> None:
    wrong = DatabaseAccount("db.test", "ada", "wrong", "postgres", server.port)
    assert "password" in refused(wrong, "select 1")
    found = query(Guard(), DatabaseAccount("127.0.0.1", "ada", "x", "postgres", server.port), "select 1")
    assert isinstance(found, Failure)
    assert "public" in found.sentence
