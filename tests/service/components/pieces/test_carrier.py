"""A call is carried to its last message; what the host says besides is bounded."""

import os
import socket
import threading

import pytest

from tests.service.components.pieces.playing import Carried
from webapp.service.components.pieces import carrier as module
from webapp.service.components.pieces import connecting, frames
from webapp.service.components.pieces.channels import TooMuch
from webapp.service.components.wire import Broken
from webapp.service.outbound.outcomes import Failure

VALUE = frames.message({"value": 1})


def test_messages_come_until_the_last_one(carried: Carried) -> None:
    carried.peer.sendall(frames.message({"log": "a"}) + VALUE + frames.of_channel(frames.END, 9))
    assert carried.carry()
    assert carried.messages == [{"log": "a"}, {"value": 1}]
    assert carried.carrier.is_clean
    inbox = bytearray(carried.peer.recv(999))
    frame = frames.take(inbox)
    assert frame is not None and frame.json() == {"call": {}}


def test_what_is_half_said_makes_the_process_unfit(carried: Carried, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REST_S", 0.1)
    carried.peer.sendall(VALUE + b"\0\0")
    assert carried.carry()
    assert not carried.carrier.is_clean


def test_the_rest_of_it_is_waited_for(carried: Carried) -> None:
    late = frames.of_channel(frames.RESET, 9)
    carried.peer.sendall(VALUE + late[:3])
    threading.Timer(0.05, carried.peer.sendall, (late[3:],)).start()
    assert carried.carry()
    assert carried.carrier.is_clean


@pytest.mark.parametrize("who", ["host", "host that is written to", "runner"])
def test_it_notices_who_hangs_up(carried: Carried, who: str) -> None:
    if who == "runner":
        os.write(carried.line[1], b"x")
    elif who == "host":
        carried.peer.shutdown(socket.SHUT_WR)
    else:
        carried.peer.close()
    assert not carried.carry()


def test_the_deadline_holds() -> None:
    call = Carried(seconds=0.05)
    with pytest.raises(TimeoutError):
        call.carry()
    call.close()


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\0\0\0\0",
        frames.of_channel(frames.OPEN, 1, b"[]"),
        frames.of_channel(frames.OPEN, 1, b'{"host": "a", "port": 0}'),
        frames.of_channel(frames.OPEN, 1, b'{"host": "a.acme.example", "port": 443}') * 2,
        frames.of_channel(frames.OPEN, 1, b'{"host": "a.acme.example", "port": 443, "x": "%s"}' % (b"x" * 4096)),
    ],
    ids=["no frame", "no address", "no port", "the same channel", "a long address"],
)
def test_nonsense_ends_the_call(carried: Carried, nonsense: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "connected", lambda *_: Failure("dns", "None."))
    carried.peer.sendall(nonsense)
    with pytest.raises(Broken):
        carried.carry()


def test_messages_are_bounded(carried: Carried) -> None:
    carried.peer.sendall(frames.message({"log": "x" * 600}) * 2)
    with pytest.raises(TooMuch):
        carried.carry()


def test_answers_that_nobody_reads_are_bounded(carried: Carried, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FLOODED", 1000)
    address = b'{"host": "elsewhere.example", "port": 443}'
    carried.peer.sendall(b"".join(frames.of_channel(frames.OPEN, number, address) for number in range(100)))
    with pytest.raises(TooMuch):
        carried.carry()
