"""The runner's end of a connection: what comes is kept, what waits is written, and no descriptor stays open."""

import os
import selectors
import socket
from collections.abc import Iterator
from functools import partial

import pytest

from webapp.service.components.runner_connection import RunnerConnection

Pair = tuple[RunnerConnection, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A connection, and the asker's end of it."""
    near, far = socket.socketpair()
    far.settimeout(2)
    with near, far, selectors.DefaultSelector() as selector:
        yield RunnerConnection(selector, near, lambda: None), far


def test_what_comes_is_kept_with_the_descriptor_that_came_last(pair: Pair) -> None:
    connection, far = pair
    assert connection.receive() is None
    reading, writing = os.pipe()
    socket.send_fds(far, [b"ab"], [writing, writing])
    assert connection.receive() is True
    socket.send_fds(far, [b"c"], [writing])
    assert connection.receive() is True
    os.close(writing)
    assert connection.inbox == b"abc" and connection.broker is not None
    os.write(connection.broker, b"here")
    connection.close_broker()
    assert [os.read(reading, 9), os.read(reading, 9)] == [b"here", b""]
    os.close(reading)
    far.shutdown(socket.SHUT_WR)
    assert connection.receive() is False


def test_it_receives_something_nothing_or_the_end(pair: Pair) -> None:
    connection, far = pair
    calls: list[str] = []
    receive = partial(connection.receive_or_else, partial(calls.append, "push"), partial(calls.append, "close"))
    assert not receive()
    far.sendall(b"a")
    assert receive()
    far.shutdown(socket.SHUT_WR)
    assert not receive()
    assert calls == ["push", "close"]


def test_what_waits_is_written_when_it_can_be(pair: Pair) -> None:
    connection, far = pair
    connection.outbox += bytes(8_000_000)
    assert connection.push()
    count = 0
    while connection.outbox:
        count += len(far.recv(1_000_000))
        assert connection.push()
    while count < 8_000_000:
        count += len(far.recv(1_000_000))
    far.close()
    connection.outbox += b"x"
    assert not connection.push()
