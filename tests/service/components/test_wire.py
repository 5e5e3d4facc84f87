"""Messages between our own processes."""

import time
from pathlib import Path

import pytest

from webapp.service.components.wire import MAX_MESSAGE, Broken, Line, encode, frame, listen, take


def test_messages_come_out_whole_however_they_arrive() -> None:
    raw = encode({"a": 1}) + encode([2]) + frame(b"x")[:-1]
    inbox, found = bytearray(), []
    for one in raw:
        inbox.append(one)
        while (payload := take(inbox)) is not None:
            found.append(payload)
    assert found == [b'{"a":1}', b"[2]"]
    assert len(inbox) == 4


def test_a_message_beyond_the_limit_is_broken() -> None:
    with pytest.raises(Broken):
        take(bytearray((MAX_MESSAGE + 1).to_bytes(4)))


def test_a_conversation_and_its_deadline(tmp_path: Path) -> None:
    listener = listen(tmp_path / "s")
    line = Line.open(tmp_path / "s", time.monotonic() + 0.3)
    other, _ = listener.accept()
    line.send(encode("hello"))
    assert take(bytearray(other.recv(99))) == b'"hello"'
    other.sendall(encode({"n": 1}) + frame(b"not json"))
    assert line.receive() == {"n": 1}
    with pytest.raises(Broken):
        line.receive()
    with pytest.raises(TimeoutError):
        line.receive()
    other.close()
    line.close()
    listener.close()


def test_the_other_end_hangs_up(tmp_path: Path) -> None:
    listener = listen(tmp_path / "s")
    again = listen(tmp_path / "s")  # takes the place of the one that stood there
    listener.close()
    line = Line.open(tmp_path / "s", time.monotonic() + 5)
    again.accept()[0].close()
    with pytest.raises(Broken, match="hung up"):
        line.receive()
    line.close()
    again.close()
    with pytest.raises(OSError):
        Line.open(tmp_path / "s", time.monotonic() + 5)
