"""Sockets under limits: bytes and time are bounded, and the first address that answers is connected to."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from webapp.service.outbound.exchange import tls_context
from webapp.service.outbound.sockets import BudgetExceeded, Deadline, LimitedSocket, Limits, connect, secure

LOOPBACK = ip_address("127.0.0.1")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server that accepts and says nothing by itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def test_the_budget_is_booked_until_it_is_used_up() -> None:
    limits = Limits(Deadline(5), 10)
    assert (limits.received(4), limits.received(6)) == (4, 6)
    with pytest.raises(BudgetExceeded):
        limits.received(1)


def test_what_is_received_counts_against_the_budget(listener: socket.socket) -> None:
    with connect([LOOPBACK], port_of(listener), Limits(Deadline(5), 3)) as sock:
        peer, _ = listener.accept()
        with peer:
            peer.sendall(b"abcd")
            buffer = bytearray(3)
            assert sock.recv_into(buffer) == 3
            assert bytes(buffer) == b"abc"
            with pytest.raises(BudgetExceeded):
                sock.recv_into(bytearray(3))


def test_no_operation_outlives_the_deadline(listener: socket.socket) -> None:
    with connect([LOOPBACK], port_of(listener), Limits(Deadline(0.15), 100)) as sock:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            sock.recv_into(bytearray(1))
        with pytest.raises(TimeoutError):
            sock.sendall(b"x")
        assert time.monotonic() - began < 2


def test_the_first_address_that_answers_is_taken(listener: socket.socket) -> None:
    deaf = ip_address("127.0.0.2")  # the listener is bound to 127.0.0.1 alone
    with connect([deaf, LOOPBACK], port_of(listener), Limits(Deadline(5), 100)) as sock:
        assert sock.getpeername()[0] == "127.0.0.1"
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_when_none_answers_the_last_error_is_raised(listener: socket.socket) -> None:
    port = port_of(listener)
    listener.close()
    with pytest.raises(ConnectionRefusedError):
        connect([LOOPBACK, LOOPBACK], port, Limits(Deadline(5), 100))
    with pytest.raises(OSError, match="no address"):
        connect([], port, Limits(Deadline(5), 100))


def test_only_the_first_four_addresses_are_tried(listener: socket.socket) -> None:
    deaf = [ip_address(f"127.0.0.{last}") for last in (2, 3, 4, 5)]
    with pytest.raises(ConnectionRefusedError):
        connect([*deaf, LOOPBACK], port_of(listener), Limits(Deadline(5), 100))


def test_a_handshake_checks_the_name_and_keeps_the_limits(listener: socket.socket, authority: Any) -> None:
    server, client = authority.context("api.example"), tls_context(authority.ca_file)

    def answer(times: int) -> None:
        for _ in range(times):
            plain, _ = listener.accept()
            try:
                with server.wrap_socket(plain, server_side=True) as secured:
                    secured.recv(1)
            except OSError:
                plain.close()

    thread = threading.Thread(target=answer, args=(2,))
    thread.start()
    limits = Limits(Deadline(5), 100_000)
    with secure(connect([LOOPBACK], port_of(listener), limits), client, "api.example") as secured:
        assert secured.limits is limits
        assert secured.send(b"x") == 1
    plain: LimitedSocket = connect([LOOPBACK], port_of(listener), limits)
    with pytest.raises(ssl.SSLCertVerificationError):
        secure(plain, client, "other.example")
    assert plain.fileno() == -1
    thread.join()


def test_what_is_left_shrinks_and_ends_in_an_error() -> None:
    deadline = Deadline(0.05)
    assert 0 < deadline.remaining() <= 0.05
    time.sleep(0.06)
    with pytest.raises(TimeoutError):
        deadline.remaining()


def test_the_sooner_of_two_holds() -> None:
    assert Deadline(100).at_most(1).remaining() <= 1
    assert Deadline(1).at_most(100).remaining() <= 1
