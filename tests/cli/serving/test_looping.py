"""One turn of the loop deals with all that has come, and not while a request computes."""

import socket
import threading
from typing import Any

import pytest

from webapp import deadlines
from webapp.cli.serving import dispatching
from webapp.cli.serving.channels import Channel
from webapp.cli.serving.connections import Connections
from webapp.cli.serving.dispatching import Dispatcher
from webapp.cli.serving.looping import Loop


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
        Connections(polled, deadlines.DEFAULTS, (), Channel),
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
