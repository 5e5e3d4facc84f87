"""The end of a server that was replaced: who keeps a connection gets one more answer on it, then goes elsewhere."""

import socket
import threading

from flask import Flask

from webapp.cli.serving import httpd, listening
from webapp.cli.serving.stopping import LEAVE, Stop

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


def test_kept_connections_get_a_last_answer_and_new_ones_are_left_to_others() -> None:
    app = Flask(__name__)
    app.add_url_rule("/healthz", view_func=lambda: "ok")
    (listener,) = listening.listen("127.0.0.1", 0)
    stop, ready = Stop(drain_s=60), threading.Event()
    stop.tell_ready = ready.set
    thread = threading.Thread(target=httpd.serve, args=(app, [listener.dup()]), kwargs={"threads": 2, "stop": stop})
    thread.start()
    assert ready.wait(5)
    with socket.create_connection(listener.getsockname(), timeout=5) as kept:
        kept.sendall(REQUEST)
        assert b"connection: close" not in kept.recv(4096).lower()
        stop._handle(LEAVE, None)
        kept.sendall(REQUEST)
        answer = b"".join(iter(lambda: kept.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 200") and b"connection: close" in answer.lower()
    thread.join(5)
    assert not thread.is_alive()
    with socket.create_connection(listener.getsockname(), timeout=5):  # waits for whoever listens from now on
        listener.settimeout(1)
        listener.accept()[0].close()
    listener.close()
