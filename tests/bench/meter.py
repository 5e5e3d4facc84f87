"""How ``make bench`` measures: CPU time that the processes of a server spend per request, by one client and by many."""

import http.client
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from flask import Flask, Response, request

from tests.bench.calls import Next, Request
from webapp.cli.serving import httpd
from webapp.cli.serving.listeners import listen
from webapp.cli.serving.logs import configure, flush
from webapp.cli.serving.process import Stop

ROUNDS = 7
TIMEOUT_S = 30.0


class Client:
    """One kept-alive connection to a server. Every answer must have the status that its request names."""

    def __init__(self, port: int) -> None:
        self._host = f"localhost:{port}"
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)

    def ask(self, wanted: Request) -> bytes:
        """Send ``wanted``; the body of the answer. Raises ``RuntimeError`` for any other status."""
        return self.answer(wanted)[1]

    def answer(self, wanted: Request) -> tuple[http.client.HTTPMessage, bytes]:
        """The same with the headers."""
        self._connection.request(wanted.method, wanted.path, wanted.body, {**wanted.headers, "Host": self._host})
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != wanted.status:
            raise RuntimeError(f"{wanted.method} {wanted.path} answered {answer.status}: {body[:300]!r}")
        return answer.headers, body

    def close(self) -> None:
        """Give back the connection."""
        self._connection.close()


class Server:
    """A server that listens at ``port`` and consists of the processes that ``pids`` names."""

    def __init__(self, port: int, pids: Callable[[], Sequence[int]]) -> None:
        self.port, self._pids = port, pids

    def client(self) -> Client:
        """A new connection."""
        return Client(self.port)

    def spent_s(self) -> float:
        """CPU seconds of all its processes, since they were started."""
        return sum(map(spent_s, self._pids()))

    def cpu_ms(self, following: Next, count: int) -> float:
        """CPU milliseconds per request for one client that asks ``count`` times."""
        with closing(self.client()) as client:
            client.ask(following())
            began = self.spent_s()
            for _ in range(count):
                client.ask(following())
            return (self.spent_s() - began) / count * 1000

    def cpu_ms_of_many(self, following: Next, count: int, clients: int) -> float:
        """The same for ``clients`` that ask side by side, ``count`` times in all."""
        requests = [following() for _ in range(count)]
        with ExitStack() as stack:
            connections = [stack.enter_context(closing(self.client())) for _ in range(clients)]
            pool = stack.enter_context(ThreadPoolExecutor(clients))
            began = self.spent_s()
            list(pool.map(_ask_all, connections, [requests[number::clients] for number in range(clients)]))
            return (self.spent_s() - began) / count * 1000


def _ask_all(client: Client, requests: Sequence[Request]) -> None:
    for wanted in requests:
        client.ask(wanted)


def medians(sides: Sequence[Callable[[], float]]) -> list[float]:
    """The median of each side over :data:`ROUNDS`, in which they take turns, so that what else goes on meets all."""
    rounds = [[side() for side in sides] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def spent_s(pid: int) -> float:
    """CPU seconds of a process, ended threads included: its clock (clock_getcpuclockid(3), in Linux's numbers).

    Raises ``OSError`` where there is no such process.
    """
    return time.clock_gettime((~pid << 3) | 2)


def pss_mb(pid: int) -> float:
    """The memory of a process in MB, pages that it shares counted in equal parts (PSS; Linux alone tells it)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


def children_of(pid: int) -> list[int]:
    """The children of a process, in the order in which they were started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def bare(answers: Sequence[tuple[str, bytes]]) -> Flask:
    """An app whose ``/bare/<n>`` reads the body and gives the bytes of the n-th answer (content type, body)."""
    app = Flask("bare")

    @app.route("/bare/<int:number>", methods=["GET", "POST"])
    def answer(number: int) -> Response:
        request.get_data()
        content_type, body = answers[number]
        return Response(body, content_type=content_type)

    return app


@contextmanager
def serving_bare(answers: Sequence[tuple[str, bytes]], threads: int) -> Iterator[Server]:
    """:func:`bare` behind the product's own HTTP server, in a child."""
    sockets = listen("127.0.0.1", 0)
    port: int = sockets[0].getsockname()[1]
    flush()
    pid = os.fork()
    if pid == 0:
        try:
            configure("error", "bench")
            httpd.serve(bare(answers), sockets, threads=threads, stop=Stop().on(signal.SIGTERM))
        finally:
            flush()
            os._exit(0)
    for listening in sockets:
        listening.close()
    try:
        yield Server(port, lambda: [pid])
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)


def p95(times: Sequence[float]) -> float:
    """The 95th percentile."""
    return sorted(times)[int(len(times) * 0.95)]


def wall_ms(client: Client, wanted: Request) -> float:
    """How long one request takes, in milliseconds by the clock."""
    began = time.perf_counter()
    client.ask(wanted)
    return (time.perf_counter() - began) * 1000
