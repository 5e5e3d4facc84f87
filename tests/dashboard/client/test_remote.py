"""A request to a service elsewhere: what is sent, and what comes back; nothing of the environment is used."""

import socket
import threading

import pytest

from webapp.dashboard.client.remote import Remote


@pytest.mark.parametrize("body", [b"", b'{"a": 1}'])
def test_a_request_and_its_answer(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                while not received or not received[-1].endswith(body or b"\r\n\r\n"):
                    received.append((received.pop() if received else b"") + peer.recv(65536))
                peer.sendall(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}")

        thread = threading.Thread(target=serve)
        thread.start()
        remote = Remote()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1/x?y=1"
        answer = remote.send("POST" if body else "GET", url, {"X-A": "1"}, body, 5.0)
        thread.join()
        remote.close()
    assert (answer.status, answer.headers["retry-after"], answer.content) == (429, "7", b"{}")
    head, _, sent = received[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/x?y=1" if body else b"GET /v1/x?y=1") and b"X-A: 1" in head and sent == body


def test_nobody_listening_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(OSError, match="refused"):
        Remote().send("GET", f"http://127.0.0.1:{port}/", {}, b"", 1.0)
