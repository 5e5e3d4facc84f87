"""How ``make bench`` measures: CPU time per request, in this process and in a real server."""

import http.client
import io
import os
import signal
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, request

from tests.bench.calls import Request
from webapp.cli.serving import httpd
from webapp.cli.serving.logs import configure, flush
from webapp.cli.serving.stopping import Stop

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

ROUNDS = 7
Side = tuple["WSGIApplication", Callable[[], Request]]


def bare(answers: list[tuple[str, bytes]]) -> Flask:
    """An app whose ``/bare/<n>`` reads the body and gives the bytes of the n-th answer (content type, body)."""
    app = Flask("bare")

    @app.route("/bare/<int:number>", methods=["GET", "POST"])
    def answer(number: int) -> Response:
        request.get_data()
        content_type, body = answers[number]
        return Response(body, content_type=content_type)

    return app


def either(app: "WSGIApplication", yardstick: Flask) -> "WSGIApplication":
    """Both behind one server: ``/bare/...`` goes to the yardstick."""

    def choose(environ: "WSGIEnvironment", start_response: "StartResponse") -> Any:
        chosen = yardstick if environ["PATH_INFO"].startswith("/bare/") else app
        return chosen(environ, start_response)

    return choose


def call(app: "WSGIApplication", wanted: Request, host: str) -> tuple[str, str, bytes]:
    """Status line, content type and body of one request to ``app``, without a server."""
    path, _, query = wanted.path.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": wanted.method, "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "localhost",
        "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": host,
        "CONTENT_LENGTH": str(len(wanted.body)), "wsgi.version": (1, 0), "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(wanted.body), "wsgi.errors": io.StringIO(), "wsgi.multithread": True,
        "wsgi.multiprocess": False, "wsgi.run_once": False,
    }  # fmt: skip
    for name, value in wanted.headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    seen: list[Any] = []
    chunks = app(environ, lambda status, headers, _=None: seen.extend([status, dict(headers)]))  # type: ignore[arg-type]  # no write()
    try:
        body = b"".join(chunks)
    finally:
        getattr(chunks, "close", lambda: None)()
    return seen[0], seen[1].get("Content-Type", ""), body


def in_process_ms(sides: Sequence[Side], host: str, count: int) -> list[float]:
    """CPU milliseconds per request of each side inside this process: medians of rounds that take turns."""
    spent: list[list[float]] = [[] for _ in sides]
    for _ in range(ROUNDS):
        for (app, following), found in zip(sides, spent, strict=True):
            wanted = [following() for _ in range(count)]
            began = time.process_time()
            for one in wanted:
                call(app, one, host)
            found.append(time.process_time() - began)
    return [statistics.median(found) / count * 1000 for found in spent]


class Remote:
    """A server in a process of its own, and one kept-alive connection to it."""

    def __init__(self, pid: int, port: int) -> None:
        self._pid, self._host = pid, f"localhost:{port}"
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def ask(self, wanted: Request) -> int:
        """Send ``wanted`` and read the answer; its status."""
        self._connection.request(wanted.method, wanted.path, wanted.body, {**wanted.headers, "Host": self._host})
        answer = self._connection.getresponse()
        answer.read()
        return answer.status

    def cpu_ms(self, sides: Sequence[Callable[[], Request]], count: int) -> list[float]:
        """CPU milliseconds per request that the server's process spends: medians of rounds that take turns."""
        spent: list[list[float]] = [[] for _ in sides]
        for _ in range(ROUNDS):
            for following, found in zip(sides, spent, strict=True):
                began = spent_s(self._pid)
                for _ in range(count):
                    self.ask(following())
                found.append(spent_s(self._pid) - began)
        return [statistics.median(found) / count * 1000 for found in spent]

    def close(self) -> None:
        """Give back the connection."""
        self._connection.close()


def spent_s(pid: int) -> float:
    """CPU seconds of a process. Read from the scheduler, whose clock is finer than the ticks in ``stat``."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def pss_mb(pid: int) -> float:
    """The memory of a process in MB, pages that it shares counted in equal parts (PSS; Linux alone tells it)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


def children_of(pid: int) -> list[int]:
    """The children of a process, in the order in which they were started."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def served(make_app: Callable[[], "WSGIApplication"], sockets: list[socket.socket], threads: int) -> Iterator[Remote]:
    """The app that ``make_app`` makes, behind the real server in a child; Linux alone tells its CPU time."""
    port: int = sockets[0].getsockname()[1]
    flush()
    pid = os.fork()
    if pid == 0:
        try:
            configure("error", "bench")
            httpd.serve(make_app(), sockets, threads=threads, stop=Stop().on(signal.SIGTERM))
        finally:
            flush()
            os._exit(0)
    remote = Remote(pid, port)
    try:
        yield remote
    finally:
        remote.close()
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
