"""Bytes pass both ways within what was given credit for; each side may end its own."""

import socket
from collections.abc import Iterator

import pytest

from webapp.service.components.pieces import frames
from webapp.service.components.pieces.channel import Channel
from webapp.service.components.pieces.frames import Frame
from webapp.service.components.wire import Broken


class Wired:
    """A channel with a server, and what it sent to the host."""

    def __init__(self) -> None:
        self.inbox = bytearray()
        self.channel = Channel(5, self.inbox.extend)
        server, self.far = socket.socketpair()
        for each in (server, self.far):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        self.channel.open(server)
        self.far.settimeout(2)

    def take(self, kind: bytes, payload: bytes = b"") -> None:
        self.channel.take(Frame(kind, 5, payload))

    def sent(self) -> list[tuple[bytes, bytes]]:
        frames_sent = []
        while (frame := frames.take(self.inbox)) is not None:
            assert frame.channel == 5
            frames_sent.append((frame.kind, frame.payload))
        return frames_sent


@pytest.fixture
def wired() -> Iterator[Wired]:
    wires = Wired()
    yield wires
    wires.channel.release()
    wires.far.close()


def test_bytes_pass_both_ways_and_each_side_ends_its_own(wired: Wired) -> None:
    wired.take(frames.DATA, b"question")
    wired.take(frames.END)
    assert (wired.far.recv(99), wired.far.recv(99)) == (b"question", b"")
    wired.far.sendall(b"answer")
    wired.far.close()
    assert (wired.channel.read(), wired.channel.read(), wired.channel.is_closed) == (6, 0, True)
    credit = (8).to_bytes(4, "big")
    assert wired.sent() == [(b"O", b"{}"), (b"W", credit), (b"D", b"answer"), (b"E", b"")]


def test_what_waits_for_its_connection_is_sent_then() -> None:
    channel = Channel(1, bytearray().extend)
    channel.take(Frame(frames.DATA, 1, b"early"))
    server, far = socket.socketpair()
    channel.open(server)
    channel.write()
    assert far.recv(99) == b"early"
    channel.release()
    far.close()


def test_a_host_is_given_credit_for_what_the_server_took(wired: Wired) -> None:
    block = bytes(frames.DATA_BYTES)
    for _ in range(frames.WINDOW // frames.DATA_BYTES):
        wired.take(frames.DATA, block)
    assert wired.channel.events(False) == 3  # to read, and to write the rest
    with pytest.raises(Broken):
        wired.take(frames.DATA, b"x" * frames.WINDOW)
    received = 0
    while received < frames.WINDOW:
        received += len(wired.far.recv(65_536))
        wired.channel.write()
    credits = [payload for kind, payload in wired.sent() if kind == b"W"]
    assert sum(int.from_bytes(payload, "big") for payload in credits) == frames.WINDOW


def test_a_server_is_read_as_far_as_the_host_gave_credit(wired: Wired) -> None:
    wired.channel._credit = 3
    wired.far.sendall(b"abcdef")
    assert wired.channel.read() == 3
    assert wired.channel.events(False) == 0
    wired.take(frames.CREDIT, (9).to_bytes(4, "big"))
    assert (wired.channel.events(True), wired.channel.events(False), wired.channel.read()) == (0, 1, 3)


@pytest.mark.parametrize("breaks", ["reading", "writing"])
def test_a_connection_that_breaks_off_is_told(wired: Wired, breaks: str) -> None:
    wired.channel._server.close()  # type: ignore[union-attr]
    wired.take(frames.DATA, b"x") if breaks == "writing" else wired.channel.read()
    assert wired.sent()[-1] == (b"R", b'{"error":"The connection broke off."}')
    assert wired.channel.is_closed
    wired.take(frames.DATA, b"x")
    assert wired.channel.read() == 0


def test_a_host_may_reset_it(wired: Wired) -> None:
    wired.take(frames.RESET)
    assert wired.channel.is_closed


def test_a_refusal_has_its_sentence() -> None:
    inbox = bytearray()
    channel = Channel(1, inbox.extend)
    channel.refuse("No.", refused=True)
    frame = frames.take(inbox)
    assert frame is not None and (frame.kind, frame.json()) == (b"O", {"error": "No.", "refused": True})
    assert channel.is_closed and channel.server is None
