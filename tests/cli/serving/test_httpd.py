"""The WSGI server's own promises, over raw sockets: limits, slow clients, odd requests, a graceful end."""

import json
import logging
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import pytest
from flask import Flask, request

from webapp.cli.serving import draining, httpd, listening
from webapp.cli.serving.stopping import Stop

Send = Callable[[bytes], tuple[int, dict[str, str], bytes]]


released = threading.Event()


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
    monkeypatch.setattr(draining, "SETTLE_S", 0.01)
    released.clear()
    (listener,) = listening.listen("127.0.0.1", 0)
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
    status, headers, body = send(post(b"Content-Length: 10485761\r\n"))
    assert (status, headers["Content-Type"]) == (413, "application/json")
    assert json.loads(body) == {"error": "The body is larger than 10 MiB; send less."}
    assert time.monotonic() - began < 1


def test_a_chunked_body_is_refused_when_it_grows_too_large(send: Send) -> None:
    chunk = b"10000\r\n" + bytes(65_536) + b"\r\n"
    assert send(post(b"Transfer-Encoding: chunked\r\n", chunk * 161))[0] == 413


def test_ten_mebibytes_are_taken(send: Send) -> None:
    status, _, body = send(post(b"Content-Length: 10485760\r\nConnection: close\r\n", bytes(10_485_760)))
    assert (status, body) == (200, b"10485760")


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
    (listener,) = listening.listen("127.0.0.1", 0)
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


def test_a_header_goes_out_with_the_body(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """In one packet, rather than two that each wake the client."""
    parts: list[bool] = []
    send = httpd._Channel.send

    def note(channel: httpd._Channel, data: bytes, do_close: bool = True) -> int:
        parts.append(data.startswith(b"HTTP/1.1 200") and data.endswith(b"/a/b"))
        return int(send(channel, data, do_close))

    monkeypatch.setattr(httpd._Channel, "send", note)
    with socket.create_connection(address, timeout=10) as client:
        client.sendall(b"GET /a/b HTTP/1.1\r\nHost: a.example\r\n\r\n")
        assert read(client)[0] == 200
    assert parts == [True]
