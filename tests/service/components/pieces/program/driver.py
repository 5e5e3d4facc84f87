"""Plays the asker of a host process: sends calls, takes its messages, and connects its channels to the far end.

It holds the process to what it may do: frames of a known form, no more bytes of a channel than it has credit for, and
nothing after the last message of a call.
"""

import json
import os
import selectors
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webapp.service.components.pieces import frames

PROGRAM = Path(frames.__file__).parent / "program" / "main.cjs"
REFUSED = "This piece may not reach that host. An owner can allow it."


@dataclass
class Outcome:
    """What came of a call: its last message and those before."""

    value: Any = None
    error: dict[str, Any] | None = None
    is_spent: bool = False
    messages: list[dict[str, Any]] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)

    @property
    def logs(self) -> list[str]:
        return [message["log"] for message in self.messages if "log" in message]

    @property
    def state(self) -> dict[str, Any]:
        return {message["set"]: message["value"] for message in self.messages if "set" in message}

    @property
    def events(self) -> list[dict[str, Any]]:
        return [message for message in self.messages if "emit" in message]


@dataclass
class _Wire:
    """One channel: what the process may still send on it, and what this side may."""

    server: socket.socket
    allowed: int = frames.WINDOW
    credit: int = frames.WINDOW
    unsent: bytearray = field(default_factory=bytearray)
    is_over: bool = False  # the server sends no more
    is_finished: bool = False  # the process sends no more


class Host:
    """A host process of one package. ``targets`` names a local port for each ``host:port`` that it may reach."""

    def __init__(self, folder: Path, package: str, targets: Mapping[str, int], ca_file: str = "") -> None:
        near, far = socket.socketpair()
        near.settimeout(20)
        self._socket, self._targets = near, targets
        self._inbox = bytearray()
        self._wires: dict[int, _Wire] = {}
        environment = {"PATH": os.environ["PATH"], **({"NODE_EXTRA_CA_CERTS": ca_file} if ca_file else {})}
        command = ["node", "--max-old-space-size=96", str(PROGRAM), str(folder), package]
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0), (os.POSIX_SPAWN_DUP2, far.fileno(), 3)]
        with far:
            self.pid = os.posix_spawnp("node", command, environment, file_actions=actions)
        self.ready = self._next().json()

    def close(self) -> None:
        self._socket.sendall(frames.message({"stop": True}))
        assert os.waitpid(self.pid, 0)[1] == 0
        self._socket.close()

    def run(self, name: str, **fields: Any) -> Outcome:
        """Run an action."""
        return self.call(method="run", kind="action", name=name, **fields)

    def call(self, **fields: Any) -> Outcome:
        """Make one call and carry its connections until its last message."""
        outcome = Outcome()
        self._socket.sendall(frames.message({"call": fields}))
        until = time.monotonic() + 20
        while True:
            frame = self._next(until)
            if frame.kind != frames.JSON:
                self._take(frame, outcome)
                continue
            message = frame.json()
            outcome.is_spent = message.get("spent", False)
            if message.keys() - {"spent"} in ({"value"}, {"error"}):
                outcome.value, outcome.error = message.get("value"), message.get("error")
                break
            outcome.messages.append(message)
        assert not self._inbox
        assert not self._wires
        return outcome

    def _next(self, until: float | None = None) -> frames.Frame:
        """The next frame of the process; connections are served meanwhile."""
        while (frame := frames.take(self._inbox)) is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._socket, selectors.EVENT_READ)
                for number, wire in self._wires.items():
                    events = selectors.EVENT_READ * (wire.credit > 0) + selectors.EVENT_WRITE * bool(wire.unsent)
                    if events and not wire.is_over:
                        selector.register(wire.server, events, number)
                ready = selector.select(10)
                assert ready, "nothing came for ten seconds"
                assert until is None or time.monotonic() < until, "the call has no end"
                for key, events in ready:
                    if key.data is None:
                        self._receive()
                    else:
                        self._serve(key.data, events)
        return frame

    def _receive(self) -> None:
        block = self._socket.recv(256 * 1024)
        assert block, "the process ended"
        self._inbox += block

    def _serve(self, number: int, events: int) -> None:
        wire = self._wires[number]
        if events & selectors.EVENT_WRITE:
            sent = wire.server.send(wire.unsent)
            del wire.unsent[:sent]
            wire.allowed += sent
            self._send(frames.credit(number, sent))
        if events & selectors.EVENT_READ:
            try:
                block = wire.server.recv(min(frames.DATA_BYTES, wire.credit))
            except ConnectionError:
                self._send(frames.of_channel(frames.RESET, number))
                wire.is_over = True
                return
            wire.credit -= len(block)
            wire.is_over = not block
            self._send(frames.of_channel(frames.DATA if block else frames.END, number, block))
            if wire.is_over and wire.is_finished:
                self._drop(number)

    def _take(self, frame: frames.Frame, outcome: Outcome) -> None:
        if frame.kind == frames.OPEN:
            self._open(frame, outcome)
            return
        if frame.kind in (frames.CREDIT, frames.RESET) and frame.channel not in self._wires:
            return  # it crossed the end of the connection
        wire = self._wires[frame.channel]
        if frame.kind == frames.DATA:
            wire.allowed -= len(frame.payload)
            assert wire.allowed >= 0, "more than it has credit for"
            wire.unsent += frame.payload
        elif frame.kind == frames.CREDIT:
            wire.credit += frame.credit()
            assert wire.credit <= frames.WINDOW
        elif frame.kind == frames.END:
            wire.server.setblocking(True)
            wire.server.sendall(wire.unsent)
            wire.unsent.clear()
            wire.server.shutdown(socket.SHUT_WR)
            wire.is_finished = True
            if wire.is_over:
                self._drop(frame.channel)
        elif frame.kind == frames.RESET:
            self._drop(frame.channel)

    def _open(self, frame: frames.Frame, outcome: Outcome) -> None:
        address = "{host}:{port}".format_map(frame.json())
        outcome.hosts.append(address)
        port = self._targets.get(address)
        answer: dict[str, Any] = {}
        if port is None:
            answer = {"error": REFUSED, "refused": True}
        else:
            server = socket.create_connection(("127.0.0.1", port))
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._wires[frame.channel] = _Wire(server)
        self._send(frames.of_channel(frames.OPEN, frame.channel, json.dumps(answer).encode()))

    def _drop(self, number: int) -> None:
        self._wires.pop(number).server.close()

    def _send(self, frame: bytes) -> None:
        self._socket.sendall(frame)
