"""PostgreSQL accounts against a real server of this machine, and against peers that stall or speak otherwise."""

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
from webapp.service.outbound.databases.accounts import DatabaseAccount
from webapp.service.outbound.databases.postgres import check
from webapp.service.outbound.guard import Guard


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
