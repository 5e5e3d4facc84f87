"""What our HTTP serving and our shared commits buy over the plain way, side by side: ``make bench-servers``.

The same application answers over copies of the same data, in one process each: by our server, by waitress through its
public API, and by granian where it is installed (``.venv/bin/pip install granian``; nothing else needs it). The plain
writer begins and commits each transaction by itself under a lock, and syncs none that creates a Connect token
(``synchronous=NORMAL``). ``--sync-ms 2`` lets each synced commit take so much longer, as on a slower disk. At last 32
clients hold back the last byte of a request: does another one get its answer?
"""

import importlib.util
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import waitress

from tests.bench.calls import Request
from tests.bench.driver import drive, raw
from tests.bench.meter import Client
from tests.bench.processes import events, lists, tokens
from tests.bench.scene import Scenery, prepare
from tests.bench.serving import unbounded
from tests.fakes.ports import free_port
from webapp.app import create_app
from webapp.cli.serving import httpd
from webapp.cli.serving.process import Stop
from webapp.service.domain.instance.opening import open_service
from webapp.settings import Settings
from webapp.store import sqlite
from webapp.store.shared_commits import Turns

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PROJECTS, THREADS, GRANIAN_THREADS, SLOW = 40, 16, 4, 32
PATIENCE_S = 5.0
TURNS, SYNC_MS = "BENCH_TURNS", "BENCH_SYNC_MS"


class SlowDisk:
    """A connection on a disk that takes ``sync_s`` seconds more for each commit which it syncs."""

    def __init__(self, connection: Any, sync_s: float) -> None:
        self._connection, self._sync_s, self.synced = connection, sync_s, True

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return bool(self._connection.in_transaction)

    def execute(self, sql: str) -> Any:
        """Execute ``sql``."""
        if self._sync_s and self.synced and sql == "COMMIT":
            time.sleep(self._sync_s)
        return self._connection.execute(sql)


class PlainTurns:
    """One writer at a time, and a commit for each."""

    def __init__(self, connection: SlowDisk, *_: object, **__: object) -> None:
        self._connection, self._lock = connection, threading.Lock()

    @contextmanager
    def block(self) -> Iterator[None]:
        """A transaction."""
        with self._lock:
            if self._connection.synced != (synced := not getattr(_request, "may_be_lost", False)):
                self._connection.execute(f"PRAGMA synchronous={'FULL' if synced else 'NORMAL'}")
                self._connection.synced = synced
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def outside(self) -> Iterator[None]:
        """The writer without a transaction."""
        with self._lock:
            yield


_request = threading.local()


def application() -> "WSGIApplication":
    """The application over the data of this process's settings, with the turns that :data:`TURNS` names."""
    make: Any = {"ours": Turns, "plain": PlainTurns}[os.environ[TURNS]]
    sync_s = float(os.environ[SYNC_MS]) / 1000
    sqlite.Turns = lambda connection, *given, **named: make(  # type: ignore[assignment,attr-defined]
        SlowDisk(connection, sync_s), *given, **named
    )
    settings = Settings.from_env(os.environ)
    app = create_app(settings, service=open_service(settings))

    def noting(environ: "WSGIEnvironment", start_response: "StartResponse") -> Any:
        _request.may_be_lost = environ["PATH_INFO"].endswith("/tokens")
        return app(environ, start_response)

    return noting


def _ours(port: int) -> None:
    httpd.serve(application(), [_listening(port)], threads=THREADS, stop=Stop().on(signal.SIGTERM))


def _waitress(port: int) -> None:
    waitress.serve(application(), sockets=[_listening(port)], threads=THREADS)


def _granian(port: int) -> None:
    from granian import Granian  # type: ignore[import-not-found]  # optional

    target = "tests.bench.servers:application"
    Granian(
        target, address="127.0.0.1", port=port, interface="wsgi", factory=True, blocking_threads=GRANIAN_THREADS
    ).serve()


SERVERS: dict[str, tuple[str, Callable[[int], None]]] = {
    "ours, commits shared": ("ours", _ours),
    "ours, plain writer": ("plain", _ours),
    "waitress, plain writer": ("plain", _waitress),
    "granian, plain writer": ("plain", _granian),
}
ROWS = {
    "one account": lambda sceneries, _: [
        Request("GET", f"{each.base}/accounts/{each.account_id}", each.headers) for each in sceneries
    ],
    "list of 100": lists,
    "token": tokens,
    "/h/": events,
}


@click.command()
@click.option("--clients", default=8, show_default=True, help="Connections that ask all the time.")
@click.option("--seconds", default=3.0, show_default=True, help="How long each round lasts.")
@click.option("--rounds", default=5, show_default=True, help="Rounds of each.")
@click.option("--sync-ms", default=0.0, show_default=True, help="How much longer each synced commit takes.")
@click.option("--only", multiple=True, type=click.Choice(list(SERVERS)), help="These servers.")
@click.option("--answer", type=(click.Choice(list(SERVERS)), int), hidden=True)
def servers(
    clients: int, seconds: float, rounds: int, sync_ms: float, only: Sequence[str], answer: tuple[str, int] | None
) -> None:
    """Measure requests a second of each server, in turns."""
    if answer:
        SERVERS[answer[0]][1](answer[1])
        return
    if importlib.util.find_spec("granian") is None:
        only = only or [name for name in SERVERS if not name.startswith("granian")]
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder:
        original = Path(folder, "data")
        settings = Settings.from_env({}, data=original, sandbox=False)
        sceneries = prepare(settings, projects_count=PROJECTS, account_count=1_000, app_count=100, people_count=1)
        for name in only or SERVERS:
            shutil.copytree(original, Path(folder, name))
        ports = {name: _start(Path(folder, name), name, sync_ms) for name in only or SERVERS}
        try:
            _measure(sceneries, {name: port for name, (port, _) in ports.items()}, clients, seconds, rounds)
        finally:
            for _, process in ports.values():
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(30)


def _measure(sceneries: Sequence[Scenery], ports: dict[str, int], clients: int, seconds: float, rounds: int) -> None:
    for row, asked in ROWS.items():
        requests = {name: [raw(each, port) for each in asked(sceneries, port)] for name, port in ports.items()}
        rates: dict[str, list[float]] = {name: [] for name in ports}
        for _ in range(rounds):
            for name, port in ports.items():
                answered, wall_s, _ = drive(port, requests[name], seconds, clients)
                rates[name].append(answered / wall_s)
        found = ", ".join(f"{name} {statistics.median(rate):,.0f}" for name, rate in rates.items())
        click.echo(f"{row}, requests/s: {found}; load {os.getloadavg()[0]:.1f}")
    for name, port in ports.items():
        click.echo(f"{name}: beside {SLOW} clients that send slowly, {_beside_slow(port, requests[name][0])}")


def _beside_slow(port: int, whole: bytes) -> str:
    """What another client sees while the last byte of ``whole`` is awaited from :data:`SLOW` clients."""
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(SLOW)]
    for each in slow:
        each.sendall(whole[:-1])
    time.sleep(1)
    with closing(socket.create_connection(("127.0.0.1", port), PATIENCE_S)) as other:
        began = time.perf_counter()
        other.sendall(f"GET /readyz HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        try:
            other.recv(1000)
            found = f"an answer after {(time.perf_counter() - began) * 1000:.0f} ms"
        except TimeoutError:
            found = f"no answer within {PATIENCE_S:g} s"
    for each in slow:
        each.close()
    return found


def _start(data: Path, name: str, sync_ms: float) -> tuple[int, subprocess.Popen[bytes]]:
    port = free_port()
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    env |= {"PATCHBAY_DATA": str(data), "PATCHBAY_PORT": str(port), "PATCHBAY_SANDBOX": "off", "PATCHBAY_MAIL": "off"}
    env |= {"PATCHBAY_LOG_LEVEL": "error", **unbounded(), TURNS: SERVERS[name][0], SYNC_MS: str(sync_ms)}
    command = [sys.executable, "-m", "tests.bench.servers", "--answer", name, str(port)]
    process = subprocess.Popen(command, env=env, start_new_session=True)
    for _ in range(300):
        try:
            with closing(Client(port)) as client:
                client.ask(Request("GET", "/readyz", {}))
            return port, process
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{name} did not start")


def _listening(port: int) -> socket.socket:
    return socket.create_server(("127.0.0.1", port))


if __name__ == "__main__":
    servers()
