"""MySQL accounts against a real server of this machine, and against peers that stall, steal or speak otherwise.

One statement against a real server of this machine: rows as JSON, parameters, refusals, tables and the deadline.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import certifi
import pytest

from tests.fakes.certificates import Authority
from tests.fakes.databases.mysql_fake import MySQLServer
from tests.fakes.databases.mysql_server import server as running
from tests.fakes.socket_server import serving
from webapp.service.outbound import mysql
from webapp.service.outbound.databases import Column, DatabaseAccount, Rows
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.mysql import check, query, tables


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    authority = Authority(tmp_path_factory.mktemp("ca"))
    authority.context("db.test")
    return authority


@pytest.fixture(scope="module")
def server(authority: Authority) -> Iterator[DatabaseAccount]:
    """One that offers encryption, with a certificate of the authority."""
    certificate = Path(authority.ca_file).parent / "db.test.pem"
    with running(f"--ssl-cert={certificate}", f"--ssl-key={certificate}") as account:
        yield account


def guard_for(port: int) -> Guard:
    return Guard([f"db.test:{port}"], resolver=lambda *_: [ip_address("127.0.0.1")])


def test_right_credentials(server: DatabaseAccount) -> None:
    outcome = check(guard_for(server.port), server)
    assert (outcome.kind, outcome.user, "MariaDB" in outcome.version) == ("ok", "ada@%", True)
    assert server.password not in repr(server)


def test_the_second_address_is_tried_when_the_first_refuses(server: DatabaseAccount) -> None:
    both = [ip_address("127.0.0.77"), ip_address("127.0.0.1")]
    assert check(Guard(["db.test"], resolver=lambda *_: both), server).kind == "ok"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"password": "wrong"}, "password"),
        ({"password": ""}, "password"),
        ({"user": "nobody"}, "password"),
        ({"database": "hidden"}, "right to connect"),
        ({"database": "a\x00b"}, "character"),
    ],
)
def test_wrong_credentials(server: DatabaseAccount, change: dict[str, Any], word: str) -> None:
    outcome = check(guard_for(server.port), replace(server, **change))
    assert outcome.kind == "refused"
    assert word in outcome.sentence


@pytest.mark.parametrize("mode", ["require", "verify-full"])
def test_encryption_that_the_server_lacks(mode: Any) -> None:
    with serving(MySQLServer("ada", "x")) as plain:
        account = DatabaseAccount("db.test", "ada", "x", "shop", plain.port, mode)
        outcome = check(guard_for(plain.port), account)
        assert (outcome.kind, "encryption" in outcome.sentence) == ("trouble", True)


@pytest.mark.parametrize(("mode", "cipher"), [("disable", ""), ("prefer", "TLS"), ("require", "TLS")])
def test_a_connection_is_encrypted_as_it_is_chosen(server: DatabaseAccount, mode: Any, cipher: str) -> None:
    rows = query(guard_for(server.port), replace(server, ssl_mode=mode), "show status like 'Ssl_version'")
    assert isinstance(rows, Rows)
    assert rows.rows[0]["Value"][:3] == cipher


def test_a_certificate_is_checked_against_the_name(
    server: DatabaseAccount, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = replace(server, ssl_mode="verify-full")
    outcome = check(guard_for(server.port), account)
    assert (outcome.kind, "not trusted" in outcome.sentence) == ("trouble", True)
    monkeypatch.setattr(certifi, "where", lambda: authority.ca_file)
    assert check(guard_for(server.port), account).kind == "ok"
    other = Guard([f"other.test:{server.port}"], resolver=lambda *_: [ip_address("127.0.0.1")])
    outcome = check(other, replace(account, host="other.test"))
    assert (outcome.kind, "not trusted" in outcome.sentence) == ("trouble", True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "/run/mysqld/mysqld.sock", "10.0.0.1"])
def test_the_guard_comes_first(server: DatabaseAccount, host: str) -> None:
    assert check(Guard(), replace(server, host=host)).kind == "trouble"


def test_no_file_of_this_machine_is_sent_to_a_server_that_asks_for_one() -> None:
    with serving(MySQLServer("ada", "x", thief=True)) as thief:
        account = DatabaseAccount("db.test", "ada", "x", "shop", thief.port)
        failure = query(guard_for(thief.port), account, "select 1", deadline_s=3.0)
        assert isinstance(failure, Failure)
        assert "never sent" in failure.sentence
    assert b"root" not in thief.got


@pytest.mark.parametrize("plugin", [b"mysql_clear_password", b"dialog"])
def test_a_password_is_not_sent_as_it_is_where_nothing_is_encrypted(plugin: bytes) -> None:
    with serving(MySQLServer("ada", "x", plugin=plugin)) as server:
        account = DatabaseAccount("db.test", "ada", "secret", "shop", server.port)
        assert check(guard_for(server.port), account).kind == "trouble"
    assert server.got == b""


@pytest.mark.parametrize(("password", "kind"), [("secret ü", "ok"), ("wrong", "refused")])
def test_the_sign_in_of_mysql_8_without_encryption(password: str, kind: str) -> None:
    """https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html"""
    with serving(MySQLServer("ada", "secret ü", plugin=b"caching_sha2_password")) as server:
        account = DatabaseAccount("db.test", "ada", password, "shop", server.port)
        assert check(guard_for(server.port), account).kind == kind


def test_an_answer_without_end_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql, "MAX_BYTES", 20)
    with serving(MySQLServer("ada", "x")) as server:
        account = DatabaseAccount("db.test", "ada", "x", "shop", server.port)
        assert check(guard_for(server.port), account).kind == "trouble"


def stall(connection: socket.socket) -> None:
    while connection.recv(1000):
        pass


def speak_http(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def break_off(connection: socket.socket) -> None:
    connection.sendall(b"\1\0\0\0\x0a")


@pytest.mark.parametrize(
    ("script", "deadline_s", "least"), [(stall, 0.3, 0.25), (speak_http, 2.0, 0.0), (break_off, 2.0, 0.0)]
)
def test_peers_that_speak_otherwise(script: Callable[[socket.socket], None], deadline_s: float, least: float) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(8)
                    script(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        started = time.monotonic()
        outcome = check(guard_for(port), DatabaseAccount("db.test", "ada", "x", "db", port), deadline_s=deadline_s)
        elapsed = time.monotonic() - started
        thread.join(timeout=1)  # the peer's end: nothing stays open behind a failure
        assert not thread.is_alive()
        assert outcome.kind == "trouble"
        assert least <= elapsed < deadline_s + 0.5


@pytest.fixture(scope="module")
def queried_server():  # type: ignore[no-untyped-def]  # a generator of an account
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


def test_changes_are_committed_and_counted(queried_server: DatabaseAccount) -> None:
    added = ask(queried_server, "insert into books (title) values (?), (?)", "A", "B")
    assert (added.command, added.count, added.rows, added.last_id) == ("INSERT", 2, (), 1)
    same = ask(queried_server, "/* all */ update books set title = title")
    assert (same.command, same.count) == ("UPDATE", 2)
    assert ask(queried_server, "(select title from books where title = ?)", "B").rows == ({"title": "B"},)
    assert ask(queried_server, "/**/" * 40 + "/*! select 1 */").command == "", "many comments take forever to read"


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
def test_every_value_is_json(queried_server: DatabaseAccount, expression: str, value: object) -> None:
    (row,) = ask(queried_server, f"select {expression} as v").rows
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
def test_parameters(queried_server: DatabaseAccount, param: object, value: object) -> None:
    assert ask(queried_server, "select ? as v", param).rows == ({"v": value},)


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
def test_refused_statements(
    queried_server: DatabaseAccount, statement: str, params: tuple[object, ...], said: str
) -> None:
    sentence = refused(queried_server, statement, *params)
    assert said.lower() in sentence.lower()
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_a_procedure_gives_the_rows_that_it_selects(queried_server: DatabaseAccount) -> None:
    ask(queried_server, "create procedure two() begin select 1 as a; select 2 as b; end")
    assert ask(queried_server, "call two()").rows == ({"b": 2},)


def test_a_statement_past_its_deadline_ends_on_the_server_too(queried_server: DatabaseAccount) -> None:
    started, threads = time.monotonic(), threading.active_count()
    assert "too long" in refused(queried_server, "select sleep(30)", deadline_s=1.3)
    assert time.monotonic() - started < 1.5
    left = "select count(*) as n from information_schema.processlist where info = 'select sleep(30)'"
    assert ask(queried_server, left).rows == ({"n": 0},)
    assert threading.active_count() == threads


def test_a_large_answer_is_counted_and_cut(queried_server: DatabaseAccount) -> None:
    rows = ask(queried_server, "select seq from seq_1_to_20000", max_rows=10)
    assert (len(rows.rows), rows.count, rows.cut) == (10, 20000, True)


def test_wrong_credentials_and_the_guard_say_so(queried_server: DatabaseAccount) -> None:
    assert "password" in refused(DatabaseAccount("db.test", "ada", "wrong", "shop", queried_server.port), "select 1")
    failure = query(Guard(), DatabaseAccount("127.0.0.1", "ada", "x", "shop", queried_server.port), "select 1")
    assert isinstance(failure, Failure)
    assert "public" in failure.sentence


def test_the_tables_that_the_account_sees(queried_server: DatabaseAccount) -> None:
    columns = (Column("id", "int", False, None), Column("title", "varchar", True, None))
    seen = tables(guard(queried_server), queried_server)
    assert isinstance(seen, tuple)
    (books,) = seen
    assert (books.schema, books.title, books.columns) == ("shop", "books", columns)
