"""A receiver of deliveries on loopback that misbehaves as its path says, and a black hole."""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.fakes.ports import free_port

PRIVATE = "http://10.0.0.1/inside"


@dataclass(frozen=True)
class Got:
    """One request as it came in; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass
class Mood:
    """How a path answers: a status with headers, or one of drip (a byte a second), endless, reset, hang."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    trick: str = ""
    body: bytes = b"thank you"


class Receiver(ThreadingHTTPServer):
    """Takes POSTs. ``moods`` tells how a path answers; all others answer 200."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.moods: dict[str, Mood] = {}
        self.got: list[Got] = []
        self.closing = threading.Event()
        self.netloc = f"127.0.0.1:{self.server_address[1]}"

    def url(self, path: str = "/", mood: Mood | None = None) -> str:
        """The address of ``path``, which answers as ``mood`` from now on."""
        if mood is not None:
            self.moods[path] = mood
        return f"http://{self.netloc}{path}"

    def of(self, path: str) -> list[Got]:
        """What came in at ``path``."""
        return [one for one in self.got if one.path == path]

    def handle_error(self, *_: object) -> None:
        """Whoever hung up on us is not our trouble."""


class _Handler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length)
        if len(body) < length:  # whoever sent it was killed in the middle
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.got.append(Got(self.path, headers, body, time.monotonic()))
        mood = self.server.moods.get(self.path, Mood())
        self.close_connection = True
        with suppress(OSError):
            getattr(self, f"_{mood.trick or 'answer'}")(mood)

    def _answer(self, mood: Mood) -> None:
        self.send_response(mood.status)
        for name, value in {"Content-Length": str(len(mood.body)), **mood.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(mood.body)

    def _hang(self, _: Mood) -> None:
        self.server.closing.wait(60)

    def _reset(self, _: Mood) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _drip(self, _: Mood) -> None:
        for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok":
            self.wfile.write(bytes([byte]))
            if self.server.closing.wait(1.0):
                return

    def _endless(self, mood: Mood) -> None:
        self.send_response(mood.status)
        self.end_headers()
        while not self.server.closing.is_set():
            self.wfile.write(b"x" * 65536)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A running receiver, with TLS when a ``context`` is given."""
    server = Receiver()
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def black_hole() -> Iterator[str]:
    """The netloc of a port where connections are never accepted and never refused: its queue is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        try:
            for _ in range(4):
                one = socket.socket()
                one.setblocking(False)
                with suppress(BlockingIOError):
                    one.connect(listener.getsockname())
                waiting.append(one)
            time.sleep(0.05)
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for one in waiting:
                one.close()


def closed_port() -> str:
    """A netloc where nothing listens."""
    return f"127.0.0.1:{free_port()}"
