"""The runner from outside: its program gets nothing of ours and ends with its lifeline; messages to it stay whole."""

import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from webapp.service.components.wire import (
    MAX_MESSAGE,
    SOCKET,
    Line,
    ProtocolError,
    command,
    encode,
    frame,
    listen,
    take,
)


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
    with pytest.raises(ProtocolError):
        take(bytearray((MAX_MESSAGE + 1).to_bytes(4)))


def test_a_conversation_and_its_deadline(tmp_path: Path) -> None:
    listener = listen(tmp_path / "s")
    line = Line.open(tmp_path / "s", time.monotonic() + 0.3)
    other, _ = listener.accept()
    line.send(encode("hello"))
    assert take(bytearray(other.recv(99))) == b'"hello"'
    other.sendall(encode({"n": 1}) + frame(b"not json"))
    assert line.receive() == {"n": 1}
    with pytest.raises(ProtocolError):
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
    with pytest.raises(ProtocolError, match="hung up"):
        line.receive()
    line.close()
    again.close()
    with pytest.raises(OSError):
        Line.open(tmp_path / "s", time.monotonic() + 5)


def test_the_program_gets_no_setting_and_keeps_what_certificates_and_times_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"PATH": "/usr/bin", "TZ": "Europe/Oslo", "SSL_CERT_FILE": "/etc/ca.pem"}
    for name, value in {**kept, "PATCHBAY_SECRET_KEY": "k" * 32, "AWS_SECRET_ACCESS_KEY": "s"}.items():
        monkeypatch.setenv(name, value)
    environment = command(tmp_path / SOCKET, 0)[1]
    assert kept.items() <= environment.items()
    assert not {"PATCHBAY_SECRET_KEY", "AWS_SECRET_ACCESS_KEY"} & environment.keys()


def test_the_program_ends_when_its_lifeline_closes(tmp_path: Path) -> None:
    arguments, environment = command(tmp_path / SOCKET, 0)
    with subprocess.Popen(arguments, env=environment, stdin=subprocess.PIPE, cwd="/") as runner:
        assert runner.stdin is not None
        runner.stdin.close()
        assert runner.wait(30) == 0


def test_who_answers_at_once_and_hangs_up_has_been_asked() -> None:
    near, far = socket.socketpair()
    line, descriptor = Line(near, time.monotonic() + 5), os.open(os.devnull, os.O_RDONLY)

    class Answered(socket.socket):
        """The asker's end, which gets no further in time before the answer is there."""

        def sendmsg(self, *arguments: Any) -> int:
            count = super().sendmsg(*arguments)
            far.sendall(encode({"value": 1}))
            far.close()
            return count

    with Answered(fileno=near.detach()) as connection:
        line._connection = connection
        line.send(encode({}), descriptor)
        assert line.receive() == {"value": 1}
    os.close(descriptor)
