"""The end of a server that was replaced: who keeps a connection gets one more answer on it, then
goes elsewhere, and who has begun to send is heard to the end."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from flask import Flask, request

from webapp.cli.serving import draining, httpd, listening
from webapp.cli.serving.stopping import LEAVE, Stop

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    (listener,) = listening.listen("127.0.0.1", 0)
    yield listener
    listener.close()


@pytest.fixture
def stop(listener: socket.socket) -> Iterator[Stop]:
    """The end of a server on ``listener`` that answers with what it was sent."""
    app = Flask(__name__)
    app.add_url_rule("/healthz", view_func=lambda: request.get_data() or b"ok", methods=["GET", "POST"])
    stop, ready = Stop(drain_s=60), threading.Event()
    stop.tell_ready = ready.set
    thread = threading.Thread(target=httpd.serve, args=(app, [listener.dup()]), kwargs={"threads": 2, "stop": stop})
    thread.start()
    assert ready.wait(5)
    yield stop
    stop.set()
    thread.join(5)
    assert not thread.is_alive()


def test_kept_connections_get_a_last_answer_and_new_ones_are_left_to_others(
    stop: Stop, listener: socket.socket
) -> None:
    with socket.create_connection(listener.getsockname(), timeout=5) as kept:
        kept.sendall(REQUEST)
        answer = b""
        while not answer.endswith(b"\r\n\r\nok"):
            answer += kept.recv(4096)
        assert b"connection: close" not in answer.lower()
        stop._handle(LEAVE, None)
        kept.sendall(REQUEST)
        answer = b"".join(iter(lambda: kept.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 200") and b"connection: close" in answer.lower()
    with socket.create_connection(listener.getsockname(), timeout=5):  # waits for whoever listens from now on
        listener.settimeout(1)
        listener.accept()[0].close()


def test_a_process_that_was_replaced_takes_the_rest_of_a_body_that_comes_slowly(
    stop: Stop, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "LINGER_S", 0.0)
    with socket.create_connection(listener.getsockname(), timeout=5) as slow:
        slow.sendall(b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\nExpect: 100-continue\r\n\r\n")
        assert slow.recv(4096).startswith(b"HTTP/1.1 100")
        slow.sendall(b"half")
        stop._handle(LEAVE, None)
        time.sleep(0.1)
        slow.sendall(b"half")
        answer = b"".join(iter(lambda: slow.recv(4096), b""))
    assert (
        answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"halfhalf") and b"connection: close" in answer.lower()
    )
