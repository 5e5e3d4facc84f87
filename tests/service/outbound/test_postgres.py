"""PostgreSQL accounts against a real server of this machine, and against peers that stall or speak otherwise.

One statement against a real server of this machine: rows as JSON, parameters, refusals and the deadline.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pytest

from tests.fakes.databases.postgres_server import server as running
from webapp.service.outbound.databases import DatabaseAccount, Rows
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.postgres import check, query


@pytest.fixture(scope="module")
def server() -> Iterator[DatabaseAccount]:
    with running() as account:
        yield account


def guard_for(port: int) -> Guard:
    return Guard([f"db.test:{port}"], resolver=lambda *_: [ip_address("127.0.0.1")])


def test_right_credentials(server: DatabaseAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "192.0.2.1")
    monkeypatch.setenv("PGPASSWORD", "wrong")
    outcome = check(guard_for(server.port), server)
    assert (outcome.kind, outcome.user) == ("ok", "ada")
    assert outcome.version.startswith("PostgreSQL")
    assert "right one" not in repr(server)


def test_the_second_address_is_tried_when_the_first_refuses(server: DatabaseAccount) -> None:
    both = [ip_address("127.0.0.77"), ip_address("127.0.0.1")]
    assert check(Guard(["db.test"], resolver=lambda *_: both), server).kind == "ok"
    assert check(Guard(["db.test"], resolver=lambda *_: both), replace(server, password="x")).kind == "refused"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"password": "wrong"}, "password"),
        ({"password": ""}, "password"),
        ({"user": "nobody"}, "password"),
        ({"database": "none"}, "database"),
        ({"database": "a\x00b"}, "character"),
    ],
)
def test_wrong_credentials(server: DatabaseAccount, change: dict[str, Any], word: str) -> None:
    outcome = check(guard_for(server.port), replace(server, **change))
    assert outcome.kind == "refused"
    assert word in outcome.sentence


def test_encryption_that_the_server_lacks(server: DatabaseAccount) -> None:
    outcome = check(guard_for(server.port), replace(server, ssl_mode="require"))
    assert (outcome.kind, "encryption" in outcome.sentence) == ("trouble", True)


def test_a_database_name_cannot_redirect_the_connection(server: DatabaseAccount, connects: list[object]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.setblocking(False)
        port = other.getsockname()[1]
        for name in (f"host=127.0.0.1 port={port}", f"postgresql://127.0.0.1:{port}/x", "x' hostaddr='127.0.0.1"):
            assert check(guard_for(server.port), replace(server, database=name)).kind == "refused"
        with pytest.raises(BlockingIOError):
            other.accept()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "/var/run/postgresql", "db.test,127.0.0.1", "10.0.0.1"])
def test_the_guard_comes_first(server: DatabaseAccount, host: str) -> None:
    outcome = check(Guard(), replace(server, host=host))
    assert outcome.kind == "trouble"


GREETING = b"R" + struct.pack(">ii", 8, 0) + b"K" + struct.pack(">iii", 12, 1, 1) + b"Z" + struct.pack(">i", 5) + b"I"


def stall_at_once(connection: socket.socket) -> None:
    while connection.recv(1000):
        pass


def stall_in_the_query(connection: socket.socket) -> None:
    connection.recv(8)
    connection.sendall(b"N")
    connection.recv(1000)
    connection.sendall(GREETING)
    while connection.recv(1000):
        pass


def speak_http(connection: socket.socket) -> None:
    connection.recv(8)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.parametrize(
    ("script", "deadline_s", "least", "most"),
    [
        (stall_at_once, 2.0, 1.9, 4.0),  # the least that libpq waits for
        (stall_in_the_query, 0.7, 0.6, 2.7),
        (speak_http, 2.0, 0.0, 1.9),
    ],
)
def test_peers_that_stall(
    script: Callable[[socket.socket], None], deadline_s: float, least: float, most: float
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(8)
                    script(connection)
                    connection.recv(1000)

        thread = threading.Thread(target=serve)
        thread.start()
        started = time.monotonic()
        account = DatabaseAccount("db.test", "ada", "x", "db", port)
        outcome = check(guard_for(port), account, deadline_s=deadline_s)
        elapsed = time.monotonic() - started
        thread.join(timeout=1)  # the peer's end: nothing stays open behind a failure
        assert not thread.is_alive()
        assert outcome.kind == "trouble"
        assert least <= elapsed < most


@pytest.fixture(scope="module")
def queried_server():  # type: ignore[no-untyped-def]  # a generator of an account
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


def test_changes_are_committed_and_counted(queried_server: DatabaseAccount) -> None:
    added = ask(queried_server, "insert into books (title, price) values ($1, $2), ($3, $4)", "A", "1.50", "B", 2)
    assert (added.command, added.count, added.rows, added.cut) == ("INSERT", 2, (), False)
    returned = ask(queried_server, "update books set price = price + 1 returning title, price", max_rows=1)
    assert (returned.count, returned.cut, returned.rows) == (2, True, ({"title": "A", "price": "2.50"},))
    assert ask(queried_server, "select sum(price) as sum from books").rows == ({"sum": "5.50"},)


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
def test_every_value_is_json(queried_server: DatabaseAccount, expression: str, value: object) -> None:
    (row,) = ask(queried_server, f"select {expression} as v").rows
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
def test_parameters(queried_server: DatabaseAccount, kind: str, given: object, value: object) -> None:
    assert ask(queried_server, f"select $1::{kind} as v", given).rows == ({"v": value},)


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
def test_refused_statements(
    queried_server: DatabaseAccount, statement: str, params: tuple[object, ...], said: str
) -> None:
    sentence = refused(queried_server, statement, *params)
    assert said.lower() in sentence.lower()
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_several_statements_are_one(queried_server: DatabaseAccount) -> None:
    assert ask(queried_server, "select 1 as a; select 2 as b").rows == ({"b": 2},)
    assert "division" in refused(queried_server, "create table half (n int); select 1 / 0")
    assert "half" in refused(queried_server, "select * from half")
    assert ask(queried_server, "").rows == ()


def test_a_statement_past_its_deadline_ends_on_the_server_too(queried_server: DatabaseAccount) -> None:
    started, threads = time.monotonic(), threading.active_count()
    assert "too long" in refused(queried_server, "select pg_sleep(30)", deadline_s=1.3)
    assert time.monotonic() - started < 1.5
    left = "select count(*) as n from pg_stat_activity where query like 'select pg_sleep(30)%' and state = 'active'"
    assert ask(queried_server, left).rows == ({"n": 0},)
    assert threading.active_count() == threads


def test_a_large_answer_is_counted_and_cut(queried_server: DatabaseAccount) -> None:
    found = ask(queried_server, "select n from generate_series(1, 20000) n", max_rows=10)
    assert (len(found.rows), found.count, found.cut) == (10, 20000, True)


def test_wrong_credentials_and_the_guard_say_so(queried_server: DatabaseAccount) -> None:
    wrong = DatabaseAccount("db.test", "ada", "wrong", "postgres", queried_server.port)
    assert "password" in refused(wrong, "select 1")
    found = query(Guard(), DatabaseAccount("127.0.0.1", "ada", "x", "postgres", queried_server.port), "select 1")
    assert isinstance(found, Failure)
    assert "public" in found.sentence
