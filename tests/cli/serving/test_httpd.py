"""The WSGI server's own promises, over raw sockets: limits, slow clients, odd requests, a graceful end.

One turn of the loop deals with all that has come, and not while a request computes.

The end of a server that was replaced: who keeps a connection gets one more answer on it, then
goes elsewhere, and who has begun to send is heard to the end.
"""

import json
import logging
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from flask import Flask, request

from webapp import connection_limits
from webapp.cli.serving import dispatcher as dispatching
from webapp.cli.serving import httpd, listeners
from webapp.cli.serving.connections import Channel, Connections
from webapp.cli.serving.dispatcher import Dispatcher
from webapp.cli.serving.httpd import Loop
from webapp.cli.serving.process import LEAVE, Stop

Send = Callable[[bytes], tuple[int, dict[str, str], bytes]]
released = threading.Event()
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def make_app() -> Flask:
    app = Flask("under-test")

    @app.route("/echo", methods=["GET", "POST"])
    def echo() -> str:
        return str(len(request.get_data()))

    @app.get("/slow")
    def slow() -> str:
        released.wait(1)
        return "x" * 1_000_000

    @app.get("/pieces")
    def pieces() -> Iterator[str]:
        return ("x" * 1_000_000 for _ in range(100))

    @app.get("/<path:path>")
    def seen(path: str) -> str:
        return str(request.environ["PATH_INFO"])

    return app


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A server with two threads in a thread of this process; stopped as a signal would stop it, but at once."""
    monkeypatch.setattr(httpd, "SETTLE_S", 0.01)
    released.clear()
    (listener,) = listeners.listen("127.0.0.1", 0)
    bound: tuple[str, int] = listener.getsockname()
    stop = Stop()
    thread = threading.Thread(target=httpd.serve, args=(make_app(), [listener]), kwargs={"threads": 2, "stop": stop})
    thread.start()
    yield bound
    stop._handle(signal.SIGTERM, None)
    thread.join(15)
    listener.close()
    assert not thread.is_alive()


@pytest.fixture
def send(address: tuple[str, int]) -> Send:
    """Sends bytes on a connection of their own; status, headers and body of the answer."""

    def exchange(data: bytes) -> tuple[int, dict[str, str], bytes]:
        with socket.create_connection(address, timeout=10) as client:
            with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
                client.sendall(data)
            return read(client)

    return exchange


def read(client: socket.socket) -> tuple[int, dict[str, str], bytes]:
    with client.makefile("rb") as stream:
        status = int(stream.readline().split()[1])
        headers = dict(line.decode().strip().split(": ", 1) for line in iter(stream.readline, b"\r\n"))
        return status, headers, stream.read(int(headers["Content-Length"]))


def post(headers: bytes, body: bytes = b"") -> bytes:
    return b"POST /echo HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n" + body


def test_a_body_that_says_it_is_too_large_is_refused_at_once(send: Send) -> None:
    began = time.monotonic()
    status, headers, body = send(post(b"Content-Length: 16777217\r\n"))
    assert (status, headers["Content-Type"]) == (413, "application/json")
    assert json.loads(body) == {"error": "The body is larger than 10 MiB; send less."}
    assert time.monotonic() - began < 1


def test_a_chunked_body_is_refused_when_it_grows_too_large(send: Send) -> None:
    chunk = b"10000\r\n" + bytes(65_536) + b"\r\n"
    assert send(post(b"Transfer-Encoding: chunked\r\n", chunk * 257))[0] == 413


def test_what_a_route_may_refuse_in_its_own_way_is_read(send: Send) -> None:
    status, _, body = send(post(b"Content-Length: 11000000\r\nConnection: close\r\n", bytes(11_000_000)))
    assert (status, body) == (200, b"11000000")


@pytest.mark.parametrize(
    "flood", [b"X: " + b"v" * 70_000 + b"\r\n", b"".join(b"X-%d: v\r\n" % n for n in range(9_000))]
)
def test_a_flood_of_headers_is_refused(send: Send, flood: bytes) -> None:
    status, _, body = send(b"GET /echo HTTP/1.1\r\nHost: x\r\n" + flood + b"\r\n")
    assert status == 431 and json.loads(body)["error"].startswith("The headers are larger")


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 4\r\nContent-Length: 5\r\n", b"Content-Length: +4\r\n", b"Content-Length : 4\r\n",
        b"Content-Length: -1\r\n", b"Content-Length: 4,4\r\n", b"Content-Length: 0x4\r\n", b"X: a\nY: b\r\n",
        b"Transfer-Encoding: xchunked\r\n", b"Transfer-Encoding: chunked, identity\r\n",
    ],
)  # fmt: skip
def test_ambiguous_framing_is_refused(send: Send, headers: bytes) -> None:
    assert send(post(headers, b"abcde"))[0] in (400, 501)


def test_double_slashes_reach_the_app_without_a_redirect(send: Send) -> None:
    status, _, body = send(b"GET /v1//connect//accounts HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (status, body) == (200, b"/v1//connect//accounts")


def test_the_server_does_not_name_itself(send: Send) -> None:
    assert "Server" not in send(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")[1]


@pytest.mark.parametrize(
    "start", [b"GET /echo HTTP/1.1\r\nHost: x\r\nX-Slow: ", post(b"Content-Length: 100\r\n", b"abc")]
)
def test_clients_that_send_slowly_hold_no_thread(send: Send, address: tuple[str, int], start: bytes) -> None:
    with ExitStack() as held:
        for _ in range(150):
            held.enter_context(socket.create_connection(address, timeout=10)).sendall(start)
        began = time.monotonic()
        assert send(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")[0] == 200
        assert time.monotonic() - began < 2


def test_a_request_under_way_is_finished_and_new_ones_are_not_taken() -> None:
    released.clear()
    (listener,) = listeners.listen("127.0.0.1", 0)
    address = listener.getsockname()
    stop = Stop()
    thread = threading.Thread(target=httpd.serve, args=(make_app(), [listener]), kwargs={"threads": 2, "stop": stop})
    thread.start()
    with socket.create_connection(address, timeout=10) as client, socket.create_connection(address) as idle:
        client.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.3)
        stop._handle(signal.SIGTERM, None)
        time.sleep(0.3)
        with pytest.raises(OSError):
            socket.create_connection(address, timeout=0.5).close()
        released.set()
        status, _, body = read(client)
        assert (status, len(body)) == (200, 1_000_000)
        thread.join(5)
        assert idle.recv(10) == b""
    listener.close()
    assert not thread.is_alive()


def test_whoever_hangs_up_leaves_no_address_in_the_log(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(b"GET /pieces HTTP/1.1\r\nHost: x\r\n\r\n")
        client.recv(1000)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ends = time.monotonic() + 10
    while "disconnected" not in caplog.text and time.monotonic() < ends:
        time.sleep(0.02)
    assert "Client disconnected while serving a request" in caplog.text
    assert "/pieces" not in caplog.text


def test_whether_it_lives_is_answered_while_all_threads_are_busy(address: tuple[str, int]) -> None:
    with ExitStack() as stack:
        busy = [stack.enter_context(socket.create_connection(address, timeout=10)) for _ in range(4)]
        for client in busy:
            client.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        client = stack.enter_context(socket.create_connection(address, timeout=0.5))
        for _ in range(2):
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert read(client)[0] == 200
        released.set()


class _Entry:
    """A descriptor that is polled."""

    accepting = False

    def __init__(self, heard: list[bytes], sock: socket.socket) -> None:
        self._heard, self._sock = heard, sock

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def handle_read_event(self) -> None:
        self._heard.append(self._sock.recv(100))


class _Computing:
    """A request that computes until it is told not to."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def service(self) -> None:
        self.begun.set()
        self.go_on.wait(5)

    def cancel(self) -> None:
        """It always begins."""


def test_what_has_come_is_dealt_with_once_no_request_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatching, "PATIENCE_S", 30.0)
    polled: dict[int, Any] = {}
    heard: list[bytes] = []
    connections, dispatcher, computing = (
        Connections(polled, connection_limits.DEFAULTS, (), Channel),
        Dispatcher(2, 1),
        _Computing(),
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        polled[ours.fileno()] = _Entry(heard, ours)
        loop = Loop(polled, connections, dispatcher)
        loop.turn(0)
        assert not heard, "nothing has come"
        dispatcher.add_task(computing)
        assert computing.begun.wait(5)
        theirs.send(b"hello")
        turn = threading.Thread(target=loop.turn, args=(5,))
        turn.start()
        turn.join(0.005)
        assert turn.is_alive() and not heard
        computing.go_on.set()
        turn.join(5)
        assert heard == [b"hello"]
    connections.close()
    dispatcher.shutdown()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    (listener,) = listeners.listen("127.0.0.1", 0)
    yield listener
    listener.close()


@pytest.fixture
def stop(listener: socket.socket) -> Iterator[Stop]:
    """The end of a server on ``listener`` that answers with what it was sent."""
    app = Flask(__name__)
    app.add_url_rule("/healthz", view_func=lambda: request.get_data() or b"ok", methods=["GET", "POST"])
    stop, ready = Stop(drain_s=60), threading.Event()
    stop.report_ready = ready.set
    thread = threading.Thread(target=httpd.serve, args=(app, [listener.dup()]), kwargs={"threads": 2, "stop": stop})
    thread.start()
    assert ready.wait(5)
    yield stop
    stop.set()
    thread.join(5)
    assert not thread.is_alive()


def test_kept_connections_get_a_last_answer_and_new_ones_are_left_to_others(
    stop: Stop, listener: socket.socket
) -> None:
    with socket.create_connection(listener.getsockname(), timeout=5) as kept:
        kept.sendall(REQUEST)
        answer = b""
        while not answer.endswith(b"\r\n\r\nok"):
            answer += kept.recv(4096)
        assert b"connection: close" not in answer.lower()
        stop._handle(LEAVE, None)
        kept.sendall(REQUEST)
        answer = b"".join(iter(lambda: kept.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 200") and b"connection: close" in answer.lower()
    with socket.create_connection(listener.getsockname(), timeout=5):  # waits for whoever listens from now on
        listener.settimeout(1)
        listener.accept()[0].close()


def test_a_process_that_was_replaced_takes_the_rest_of_a_body_that_comes_slowly(
    stop: Stop, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(httpd, "LINGER_S", 0.0)
    with socket.create_connection(listener.getsockname(), timeout=5) as slow:
        slow.sendall(b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\nExpect: 100-continue\r\n\r\n")
        assert slow.recv(4096).startswith(b"HTTP/1.1 100")
        slow.sendall(b"half")
        stop._handle(LEAVE, None)
        time.sleep(0.1)
        slow.sendall(b"half")
        answer = b"".join(iter(lambda: slow.recv(4096), b""))
    assert (
        answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"halfhalf") and b"connection: close" in answer.lower()
    )
