"""A relay: a driver connects to a loopback address, and its bytes reach the server over the broker's connections."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.components.test_broker import served
from webapp.kit.clock import Deadline
from webapp.service.components.broker import Broker
from webapp.service.components.brokered_http import BrokerLine
from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.relay import RelayGuard
from webapp.service.outbound.failures import Failure


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Answers what it gets, each time in a connection of its own."""

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_echo, args=(listener,))
        thread.start()
        yield listener
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def _echo(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            while block := connection.recv(99):
                connection.sendall(block.upper())


@pytest.fixture
def guard(server: socket.socket, tmp_path: Path) -> Iterator[RelayGuard]:
    path = tmp_path / "1.0.0.py"
    path.write_text("class A:\n    reads_secrets = True\n")
    port = server.getsockname()[1]
    call = Call(str(path), accounts={"a": AccountGrant({"host": "127.0.0.1"})}, allow_hosts=(f"127.0.0.1:{port}",))
    broker = Broker(call, print)
    with served(broker):
        yield RelayGuard(BrokerLine(broker.far.fileno()))


def test_each_connection_is_relayed_to_one_of_its_own(guard: RelayGuard, server: socket.socket) -> None:
    port = server.getsockname()[1]
    addresses = guard.pin_host("127.0.0.1", port, Deadline(2))
    assert not isinstance(addresses, Failure)
    assert guard.pin_host("127.0.0.1", port, Deadline(2)) == addresses
    assert str(addresses[0]).startswith("127.80.")
    for _ in range(2):
        with socket.create_connection((str(addresses[0]), port), 2) as connection:
            connection.sendall(b"hello")
            assert connection.recv(99) == b"HELLO"
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(99) == b""


def test_what_the_broker_refuses_is_said(guard: RelayGuard) -> None:
    outcome = guard.pin_host("db.example.com", 5432, Deadline(2))
    assert isinstance(outcome, Failure) and "is not the server of this account" in outcome.sentence


def test_without_a_broker_there_is_no_relay() -> None:
    with socket.socket() as closed:
        guard = RelayGuard(BrokerLine(closed.detach()))
    outcome = guard.pin_host("db.example.com", 5432, Deadline(2))
    assert isinstance(outcome, Failure) and "nobody waits" in outcome.sentence
