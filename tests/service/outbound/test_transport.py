"""One exchange: to the pinned address alone, with the name in the Host header, within its limits of size and time.
Sockets under limits: bytes and time are bounded, and the first address that answers is connected to."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from webapp.kit.clock import Deadline
from webapp.service.outbound.client import compose
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import BudgetExceeded, Failure, Response
from webapp.service.outbound.streams import Stream
from webapp.service.outbound.transport import (
    LimitedSocket,
    LimitedTLSSocket,
    Limits,
    Message,
    Transport,
    connect,
    secure,
    tls_context,
)
from webapp.service.outbound.urls import Url, parse_url

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"


def message(url: str, headers: dict[str, str] | None = None) -> Message:
    parsed = parse_url(url)
    assert isinstance(parsed, Url)
    composed = compose("GET", parsed, headers or {}, None, None, None)
    assert isinstance(composed, Message)
    return composed


def transport(*allowed: str) -> Transport:
    return Transport(Guard(allowed), "Patchbay-Test", tls_context(None))


def test_an_answer_within_the_limit_is_whole(peer: Any) -> None:
    target = peer(OK)
    answer = transport(f"127.0.0.1:{target.port}").exchange(message(target.url), Deadline(5), 10, cut=False)
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (200, b"0123456789")
    assert f"Host: 127.0.0.1:{target.port}\r\n".encode() in target.requests[0]
    assert b"User-Agent: Patchbay-Test\r\n" in target.requests[0]


@pytest.mark.parametrize(("cut", "outcome"), [(True, b"012345678"), (False, "too_large")])
def test_a_larger_answer_is_cut_or_refused(peer: Any, cut: bool, outcome: object) -> None:
    target = peer(OK)
    answer = transport(f"127.0.0.1:{target.port}").exchange(message(target.url), Deadline(5), 9, cut=cut)
    assert (answer.kind if isinstance(answer, Failure) else answer.body) == outcome


def test_what_the_guard_refuses_is_never_connected_to(peer: Any, connects: list[object]) -> None:
    target = peer(OK)
    refused = transport().exchange(message(target.url), Deadline(5), 10, cut=False)
    assert isinstance(refused, Failure) and refused.kind == "refused_by_guard"
    assert isinstance(transport().begin(message(target.url), Deadline(5)), Failure)
    assert (connects, target.connections) == ([], 0)


def test_an_own_user_agent_takes_the_place_of_ours(peer: Any) -> None:
    target = peer(OK)
    sent = message(target.url, {"user-agent": "Own/1"})
    transport(f"127.0.0.1:{target.port}").exchange(sent, Deadline(5), 10, cut=False)
    assert b"Patchbay-Test" not in target.requests[0]
    assert b"Own/1" in target.requests[0]


def test_begin_fails_like_exchange(peer: Any) -> None:
    nonsense = peer(b"SSH-2.0-OpenSSH_9.9\r\n")
    failure = transport(f"127.0.0.1:{nonsense.port}").begin(message(nonsense.url), Deadline(5))
    assert not isinstance(failure, Stream)
    assert failure.kind == "bad_response"


def test_one_strict_context_for_each_set_of_authorities(authority: Any) -> None:
    context = tls_context(None)
    assert tls_context(None) is context is not tls_context(authority.ca_file)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.sslsocket_class is LimitedTLSSocket


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
