"""An answer handed on while it arrives: encoded as it came, masked on demand, closed after its last byte.

Connections are used again by one lane, for what may be repeated, to an address that was just permitted.

One exchange: to the pinned address alone, with the name in the Host header, within its limits of size and time.
Sockets under limits: bytes and time are bounded, and the first address that answers is connected to.
"""

import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

import pytest

from webapp.kit.clock import Deadline
from webapp.service.outbound import transport
from webapp.service.outbound.client import OutboundClient, compose
from webapp.service.outbound.failures import BudgetExceeded, Failure
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import (
    BLOCK,
    MAX_OPEN_PER_LANE,
    ConnectionPool,
    LimitedSocket,
    LimitedTLSSocket,
    Limits,
    Message,
    Stream,
    StreamBroken,
    Transport,
    Upload,
    connect,
    secure,
    tls_context,
)
from webapp.service.outbound.urls import Url, parse_url

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Next: /?key=canary\r\n\r\n"
Get = Callable[..., Response | Failure]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"


def begin(peer: Any, url: str = "/") -> Stream:
    transport = Transport(Guard([f"127.0.0.1:{peer.port}"]), "Patchbay-Test", tls_context(None))
    parsed = parse_url(f"{peer.url}{url}")
    assert isinstance(parsed, Url)
    message = compose("GET", parsed, {}, None, None, None)
    stream = transport.begin(message, Deadline(5))  # type: ignore[arg-type]
    assert isinstance(stream, Stream)
    return stream


def test_a_body_comes_in_blocks_and_closes_the_connection(peer: Any) -> None:
    body = b"x" * (3 * BLOCK)
    stream = begin(peer(HEAD % len(body) + body))
    blocks = list(stream.blocks())
    assert b"".join(blocks) == body
    assert max(map(len, blocks)) <= BLOCK
    assert stream._sock.fileno() == -1


def test_a_body_that_breaks_off_is_reported_in_one_sentence(peer: Any) -> None:
    stream = begin(peer(HEAD % 100 + b"only this"))
    with pytest.raises(StreamBroken, match=r"^127\.0\.0\.1 broke the connection off\. Try again later\.$"):
        list(stream.blocks())


def test_the_address_and_every_header_can_be_masked(peer: Any) -> None:
    stream = begin(peer(HEAD % 0), "/me?key=canary")
    stream.hide(lambda text: text.replace("canary", "***"), iter)
    assert stream.url.endswith("/me?key=***")
    assert stream.headers["X-Next"] == "/?key=***"
    stream.close()
    stream.close()


def test_an_upload_never_prints_what_it_holds() -> None:
    upload = Upload(io.BytesIO(b"canary"), 6)
    assert (upload.length, upload.source.read()) == (6, b"canary")
    assert "BytesIO" not in repr(upload)


class Provider(ThreadingHTTPServer):
    """Keeps connections and counts them; hangs up without a word after so many answers."""

    daemon_threads = True
    connections, answers_each = 0, 1_000
    is_done = threading.Event()  # with saying more than an answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.left = self.server.answers_each

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.left == 0:
            self.close_connection = True
            return
        self.left -= 1
        body = b"x" * (3_000_000 if "large" in self.path else 3)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if "close" in self.path:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        if "more" in self.path:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
            self.server.is_done.set()

    do_POST = do_PUT = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def standings(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConnectionPool]:
    fresh = ConnectionPool()
    monkeypatch.setattr(transport, "POOL", fresh)
    yield fresh
    for standing in list(fresh._kept):
        standing.close()


@pytest.fixture
def get(provider: Provider, standings: ConnectionPool) -> Get:
    port = provider.server_address[1]
    client = OutboundClient(Guard((f"127.0.0.1:{port}",)), user_agent="x")

    def request(path: str = "/", lane: str = "ada", method: str = "GET", **more: Any) -> Response | Failure:
        return client.request(method, f"http://127.0.0.1:{port}{path}", lane=lane, deadline_s=5, **more)

    return request


def is_ok(outcome: Response | Failure) -> bool:
    return isinstance(outcome, Response) and outcome.body == b"xxx"


def test_one_lane_uses_its_connection_again_and_no_other_does(get: Get, provider: Provider) -> None:
    assert all(is_ok(get()) for _ in range(3))
    assert is_ok(get(method="PUT", data=b"12")) and provider.connections == 1
    assert is_ok(get(lane="bob")) and provider.connections == 2
    assert is_ok(get(lane="")) and is_ok(get(lane="")) and provider.connections == 4


def test_what_may_not_be_repeated_gets_a_fresh_one(get: Get, provider: Provider) -> None:
    assert is_ok(get()) and is_ok(get(method="POST", data=b"1")) and is_ok(get(method="POST", data=b"1"))
    assert provider.connections == 3
    assert is_ok(get()) and provider.connections == 3


@pytest.mark.parametrize(("path", "more"), [("/close", {}), ("/large", {"max_bytes": 5, "cut": True})])
def test_one_that_is_not_whole_and_quiet_is_not_used(
    get: Get, provider: Provider, path: str, more: dict[str, Any]
) -> None:
    get(path, **more)
    assert is_ok(get()) and provider.connections == 2


def test_what_is_said_beyond_an_answer_is_no_answer_to_the_next(get: Get, provider: Provider) -> None:
    get("/more")
    assert provider.is_done.wait(5)
    assert is_ok(get())


def test_one_that_is_hung_up_on_in_the_middle_is_replaced(
    get: Get, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.answers_each = 1
    assert all(is_ok(get()) for _ in range(4))
    assert provider.connections == 4


def test_an_address_that_is_no_longer_permitted_is_left(
    get: Get, provider: Provider, standings: ConnectionPool
) -> None:
    assert is_ok(get())
    target = Guard(("127.0.0.1",)).pin(_url(provider), Deadline(1))
    assert not isinstance(target, Failure)
    elsewhere = Target(target.url, (ip_address("127.0.0.2"),))
    assert standings.take("ada", elsewhere) is None
    kept = standings.take("ada", target)
    assert kept is not None and standings.take("ada", target) is None
    kept.close()


def test_few_are_kept_and_not_for_long(
    get: Get, provider: Provider, standings: ConnectionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(MAX_OPEN_PER_LANE + 2):
        assert is_ok(get(method="POST", data=b"1"))
    assert len(standings._kept) == MAX_OPEN_PER_LANE
    monkeypatch.setattr(transport, "IDLE_S", -1.0)
    assert is_ok(get()) and provider.connections == MAX_OPEN_PER_LANE + 3
    get(lane="bob")
    assert len(standings._kept) == 1


def _url(provider: Provider) -> Any:
    return Guard(("127.0.0.1",)).check(f"http://127.0.0.1:{provider.server_address[1]}/")


def message(url: str, headers: dict[str, str] | None = None) -> Message:
    parsed = parse_url(url)
    assert isinstance(parsed, Url)
    composed = compose("GET", parsed, headers or {}, None, None, None)
    assert isinstance(composed, Message)
    return composed


def a_transport(*allowed: str) -> Transport:
    return Transport(Guard(allowed), "Patchbay-Test", tls_context(None))


def test_an_answer_within_the_limit_is_whole(peer: Any) -> None:
    target = peer(OK)
    answer = a_transport(f"127.0.0.1:{target.port}").exchange(message(target.url), Deadline(5), 10, cut=False)
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (200, b"0123456789")
    assert f"Host: 127.0.0.1:{target.port}\r\n".encode() in target.requests[0]
    assert b"User-Agent: Patchbay-Test\r\n" in target.requests[0]


@pytest.mark.parametrize(("cut", "outcome"), [(True, b"012345678"), (False, "too_large")])
def test_a_larger_answer_is_cut_or_refused(peer: Any, cut: bool, outcome: object) -> None:
    target = peer(OK)
    answer = a_transport(f"127.0.0.1:{target.port}").exchange(message(target.url), Deadline(5), 9, cut=cut)
    assert (answer.kind if isinstance(answer, Failure) else answer.body) == outcome


def test_what_the_guard_refuses_is_never_connected_to(peer: Any, connects: list[object]) -> None:
    target = peer(OK)
    refused = a_transport().exchange(message(target.url), Deadline(5), 10, cut=False)
    assert isinstance(refused, Failure) and refused.kind == "refused_by_guard"
    assert isinstance(a_transport().begin(message(target.url), Deadline(5)), Failure)
    assert (connects, target.connections) == ([], 0)


def test_an_own_user_agent_takes_the_place_of_ours(peer: Any) -> None:
    target = peer(OK)
    sent = message(target.url, {"user-agent": "Own/1"})
    a_transport(f"127.0.0.1:{target.port}").exchange(sent, Deadline(5), 10, cut=False)
    assert b"Patchbay-Test" not in target.requests[0]
    assert b"Own/1" in target.requests[0]


def test_begin_fails_like_exchange(peer: Any) -> None:
    nonsense = peer(b"SSH-2.0-OpenSSH_9.9\r\n")
    failure = a_transport(f"127.0.0.1:{nonsense.port}").begin(message(nonsense.url), Deadline(5))
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
