"""The address to open: printed once the health check answers, and not a moment before."""

import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from webapp.cli.serving.announcement import Announcement
from webapp.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_env({"PATCHBAY_PUBLIC_URL": "https://connect.example.com"}, data=tmp_path)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def answer(listener: socket.socket, status: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        assert connection.recv(4096).startswith(b"GET /healthz HTTP/1.1\r\n")
        connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    ("token", "line"),
    [
        ("a+b", "Patchbay is ready: https://connect.example.com/start?token=a%2Bb\n"),
        (None, "Patchbay is ready: https://connect.example.com/\n"),
    ],
)
def test_the_address_is_printed_when_the_service_answers(
    settings: Settings, listener: socket.socket, token: str | None, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    announce = Announcement(settings, listener, token)
    for status in (b"503 Service Unavailable", b"200 OK"):
        server = Thread(target=answer, args=(listener, status))
        server.start()
        assert announce() is (status == b"200 OK")
        server.join()
    assert capsys.readouterr().out == line


def test_nothing_is_printed_while_nobody_answers(
    settings: Settings, listener: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    announce = Announcement(settings, listener, "token")
    listener.close()
    assert not announce()
    assert capsys.readouterr().out == ""
