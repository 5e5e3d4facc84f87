"""Connections that send slowly, or nothing: ended by their deadlines, or for others, who never notice them.

What a connection knows of itself: since when its request is coming, how much of it came, whether there is work.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from waitress.adjustments import Adjustments

from tests.cli.serving.test_httpd import read
from webapp import connection_limits
from webapp.cli.serving import connections, httpd, listeners
from webapp.cli.serving.connections import Channel
from webapp.cli.serving.process import Stop
from webapp.quotas import REFUSALS

Connect = Callable[..., socket.socket]
Serve = Callable[..., AbstractContextManager[Connect]]
HELLO = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """A server with the bounds that are given, and what connects to it from addresses of this machine."""
    monkeypatch.setattr(connections, "EVERY_S", 0.02)
    app = Flask("under-test")
    app.add_url_rule("/hello", view_func=lambda: "hello")

    @contextmanager
    def serving(proxies: tuple[str, ...] = (), **bounds: float) -> Iterator[Connect]:
        (listener,) = listeners.listen("127.0.0.1", 0)
        stop, given = Stop(), {**connection_limits.DEFAULTS, **bounds}
        kwargs: dict[str, Any] = {"threads": 1, "stop": stop, "bounds": given, "proxies": proxies}
        thread = threading.Thread(target=httpd.serve, args=(app, [listener]), kwargs=kwargs)
        thread.start()
        with ExitStack() as opened:
            opened.callback(thread.join, 15)
            opened.callback(lambda: socket.create_connection(listener.getsockname(), 5).close())
            opened.callback(stop.set)

            def connect(data: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
                client = socket.create_connection(listener.getsockname(), 5, source_address=(source, 0))
                opened.enter_context(client)
                client.sendall(data)
                return client

            yield connect
        listener.close()

    return serving


def is_ended(client: socket.socket) -> bool:
    """Whether the server closes ``client`` now, without a word."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize(
    ("data", "bound"),
    [
        (b"GET /hello HTTP/1.1\r\nHost", "headers_s"),
        (b"POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc", "body_s"),
    ],
)
def test_a_request_that_takes_too_long_to_come_is_answered_408(serve: Serve, data: bytes, bound: str) -> None:
    before = REFUSALS.counts()[bound]
    with serve(HEADERS_S=0.1, BODY_S=0.1) as connect:
        status, _, body = read(connect(data))
        assert (status, b"took too long to come" in body) == (408, True)
        assert read(connect(HELLO))[0] == 200
    assert REFUSALS.counts()[bound] == before + 1


def test_a_connection_that_sends_nothing_is_closed(serve: Serve) -> None:
    with serve(HEADERS_S=0.05) as connect:
        assert is_ended(connect())


def test_who_was_answered_may_stay_longer_than_a_request_may_take_to_come(serve: Serve) -> None:
    with serve(HEADERS_S=0.05) as connect:
        client = connect(HELLO)
        assert read(client)[0] == 200
        assert is_ended(connect())
        client.sendall(HELLO)
        assert read(client)[0] == 200


@pytest.mark.parametrize("bound", ["ADDRESS_CONNECTIONS", "CONNECTIONS"])
def test_the_one_that_waits_for_longest_gives_way(serve: Serve, bound: str) -> None:
    with serve(**{bound: 3}) as connect:
        served = connect(HELLO)
        assert read(served)[0] == 200
        first, second = connect(b"GET"), connect(b"GET")
        assert read(connect(HELLO))[0] == 200
        assert read(first)[0] == 408
        second.sendall(HELLO[3:])
        assert read(second)[0] == 200
        served.sendall(HELLO)
        assert read(served)[0] == 200


def test_each_address_has_its_own_and_a_trusted_proxy_any_number(serve: Serve) -> None:
    with serve(proxies=("127.0.0.9/32",), ADDRESS_CONNECTIONS=1) as connect:
        slow = [connect(b"GET", source) for source in ("127.0.0.1", "127.0.0.2", "127.0.0.9", "127.0.0.9", "127.0.0.9")]
        for client in slow:
            client.sendall(HELLO[3:])
            assert read(client)[0] == 200


def test_a_sweep_looks_at_a_few_at_a_time_and_at_all_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "AT_A_TIME", 3)
    monkeypatch.setattr(connections, "BETWEEN_S", 0.0)
    monkeypatch.setattr(connections, "EVERY_S", 30.0)
    of_server = connections.Connections({}, connection_limits.DEFAULTS, (), Channel)
    looks: list[list[Any]] = []
    monkeypatch.setattr(of_server, "_overdue", lambda channel, _: looks[-1].append(channel.descriptor))
    of_server._waiting.update({number: SimpleNamespace(descriptor=number, waits=True) for number in range(8)})  # type: ignore[misc]
    for _ in range(5):
        looks.append([])
        of_server.update()
    assert looks == [[0, 1, 2], [3, 4, 5], [6, 7], [], []]
    assert 25 < of_server.pause_s() <= 30.0
    of_server._waiting.clear()
    of_server.close()


def test_a_connection_waits_until_its_request_is_whole() -> None:
    ours, theirs = socket.socketpair()
    tasks: list[Any] = []
    server, polled = SimpleNamespace(add_task=tasks.append, active_channels={}), dict[int, Any]()
    forgotten: list[Channel] = []
    with theirs:
        channel = Channel(server, ours, ("192.0.2.1", 1), Adjustments(), map=polled)
        channel.forget = forgotten.append
        opened_at = channel.began_at
        channel.received(b"GET / HT")
        assert channel.waits and channel.began_at >= opened_at and channel.received_bytes == 8
        began_at = channel.began_at
        channel.received(b"TP/1.1\r\nHost: x\r\n\r\n")
        assert (channel.began_at, channel.received_bytes, tasks) == (began_at, 27, [channel])
        assert not channel.waits and polled == {channel.descriptor: channel}
        channel.close()
    assert forgotten == [channel] and polled == {}
