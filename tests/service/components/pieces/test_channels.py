"""Connections are guarded, bounded, and begun so many at a time."""

import selectors
import socket
import threading
from collections import Counter
from typing import Any

import pytest

from tests.service.components.pieces.playing import Carried
from webapp.service.components.pieces import channels as module
from webapp.service.components.pieces import connecting, frames
from webapp.service.components.pieces.channel import Channel
from webapp.service.components.pieces.channels import TooMuch, watch
from webapp.service.outbound.outcomes import Failure

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
VALUE = frames.message({"value": 1})


def play(peer: socket.socket, host: str, ends: bool = True) -> list[tuple[bytes, Any]]:
    """Open a channel to ``host``, ask and hang up; what the channel brought, then the call is over."""
    peer.sendall(frames.of_channel(frames.OPEN, 7, f'{{"host": "{host}", "port": 443}}'.encode()))
    peer.sendall(frames.of_channel(frames.DATA, 7, b"question") + frames.of_channel(frames.END, 7))
    inbox, brought = bytearray(), list[tuple[bytes, Any]]()
    while not brought or (brought[-1][0] not in (b"E", b"R") and "error" not in str(brought[0])):
        inbox += peer.recv(65_536)
        while (frame := frames.take(inbox)) is not None:
            if frame.kind in (b"O", b"D", b"E", b"R"):
                brought.append((frame.kind, frame.payload if frame.kind == b"D" else frame.json()))
    peer.sendall(VALUE)
    return brought


def test_a_connection_is_carried_to_a_host_that_may_be_reached(
    carried: Carried, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, far = socket.socketpair()
    monkeypatch.setattr(connecting, "connected", lambda allow, host, port, deadline: server)
    brought: list[Any] = []
    thread = threading.Thread(target=lambda: brought.extend(play(carried.peer, "a.acme.example")))
    thread.start()

    def answer() -> None:
        question = far.recv(99)
        far.sendall(question[::-1])
        far.close()

    answering = threading.Thread(target=answer)
    answering.start()
    assert carried.carry()
    thread.join()
    answering.join()
    assert brought == [(b"O", {}), (b"D", b"noitseuq"), (b"E", None)]
    assert carried.carrier.refused == {}


@pytest.mark.parametrize("why", ["no rule", "no such name", "too many"])
def test_a_connection_that_there_is_none_of_has_a_sentence(
    carried: Carried, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(connecting, "connected", lambda *_: Failure("dns", "There is none."))
    monkeypatch.setattr(module, "OPEN_IN_ALL", 0 if why == "too many" else 500)
    brought: list[Any] = []
    host = "Evil.example" if why == "no rule" else "a.acme.example"
    thread = threading.Thread(target=lambda: brought.extend(play(carried.peer, host)))
    thread.start()
    assert carried.carry()
    thread.join()
    answer = {
        "no rule": {"error": connecting.refusal((), "Evil.example", 443).sentence, "refused": True},  # type: ignore[union-attr]
        "no such name": {"error": "There is none.", "code": "ENOTFOUND"},
        "too many": {"error": "A call may not have that many connections. Use fewer."},
    }[why]
    assert brought[0] == (b"O", answer)
    assert list(carried.carrier.refused) == (["evil.example"] if why == "no rule" else [])


def test_what_servers_send_is_bounded(carried: Carried, monkeypatch: pytest.MonkeyPatch) -> None:
    server, far = socket.socketpair()
    far.sendall(b"x" * 100)
    monkeypatch.setattr(connecting, "connected", lambda *_: server)
    monkeypatch.setattr(module, "CARRIED_BYTES", 99)
    carried.peer.sendall(frames.of_channel(frames.OPEN, 7, b'{"host": "a.acme.example", "port": 443}'))
    with pytest.raises(TooMuch):
        carried.carry()
    far.close()


def test_more_connections_than_may_be_open_wait_for_their_turn(
    carried: Carried, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counter[str]()
    release = Channel.release

    def connected(*_: Any) -> socket.socket:
        counts["open"] += 1
        counts["most"] = max(counts["most"], counts["open"])
        server, far = socket.socketpair()
        far.close()
        return server

    def released(channel: Channel) -> None:
        counts["open"] -= 1
        release(channel)

    monkeypatch.setattr(connecting, "connected", connected)
    monkeypatch.setattr(Channel, "release", released)
    monkeypatch.setattr(module, "OPEN_AT_ONCE", 2)
    for number in range(1, 7):
        carried.peer.sendall(frames.of_channel(frames.OPEN, number, b'{"host": "a.acme.example", "port": 443}'))
        carried.peer.sendall(frames.of_channel(frames.END, number))

    def play() -> None:
        inbox, ended = bytearray(), set[int]()
        while len(ended) < 6:
            inbox.extend(carried.peer.recv(65_536))
            while (frame := frames.take(inbox)) is not None:
                if frame.kind == frames.END:
                    ended.add(frame.channel)
        carried.peer.sendall(VALUE)

    thread = threading.Thread(target=play)
    thread.start()
    assert carried.carry()
    thread.join()
    assert counts["most"] == 2


def test_what_is_waited_for_changes() -> None:
    near, far = socket.socketpair()
    with selectors.DefaultSelector() as selector, near, far:
        watch(selector, near, 0, "a")
        assert not selector.get_map()
        for events in (READ, READ, READ | WRITE):
            watch(selector, near, events, "a")
            key = selector.get_key(near)
            assert (key.events, key.data) == (events, "a")
        watch(selector, near, 0, "a")
        assert not selector.get_map()
