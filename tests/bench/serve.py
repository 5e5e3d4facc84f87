"""All of ``patchbay serve``, the real one: the memory of its processes after load, and what the idle worker costs."""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.calls import Request, operations
from tests.bench.deliveries import receiver
from tests.bench.meter import children_of, pss_mb, spent_s
from tests.bench.scene import Scenery

MEMORY_TARGET_MB, IDLE_TARGET = 250.0, 1.0
PROCESSES = ("runner", "web", "worker", "sandbox")  # in the order in which they are started
AT_ONCE = 16
PORTS = (0, 1, 25)  # dashboard and API, sandbox, mail
SETTLED_S = 1.0
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Serve:
    """``memory_mb``: proportional set size in MB of each process, after ``requests`` and as many ``events`` accepted
    and delivered; CPU in percent of one processor, over ``idle_s`` seconds in which nothing is asked or due."""

    requests: int
    events: int
    memory_mb: dict[str, float]
    total_mb: float
    idle_s: float
    idle_worker_percent: float
    idle_all_percent: float

    def text(self) -> str:
        """The lines to print."""
        shares = ", ".join(f"{name} {size:.0f}" for name, size in self.memory_mb.items())
        return (
            f"all of serve after {self.requests:,} requests and {self.events:,} delivered events: {self.total_mb:.0f} "
            f"MB PSS ({shares}), to reach < {MEMORY_TARGET_MB:g} MB, {_verdict(self.total_mb < MEMORY_TARGET_MB)}\n"
            f"idle for {self.idle_s:g} s: the worker takes {self.idle_worker_percent:.2f} % of a processor, to reach "
            f"< {IDLE_TARGET:g} %, {_verdict(self.idle_worker_percent < IDLE_TARGET)}; all of serve "
            f"{self.idle_all_percent:.2f} %"
        )


def measure(data: Path, scenery: Scenery, count: int, idle_s: float) -> Serve:
    """Serve what is in ``data``, ask each operation ``count`` times and send as many events; then leave it alone.

    Raises ``RuntimeError`` when a request fails or an event is not delivered.
    """
    with receiver() as netloc, _serving(data, netloc) as (pid, port):
        asked = _Asking(port)
        made = json.loads(asked.send(operations(scenery, "")[0].next()))
        table = operations(scenery, made["token"])
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for operation in table:
                list(pool.map(asked.send, [operation.next() for _ in range(count)]))
            _deliver(asked, pool.map, scenery, f"http://{netloc}/hook", count)
        time.sleep(SETTLED_S)
        processes = {"supervisor": pid, **dict(zip(PROCESSES, children_of(pid), strict=True))}
        memory = {name: round(pss_mb(one), 1) for name, one in processes.items()}
        before = {name: spent_s(one) for name, one in processes.items()}
        time.sleep(idle_s)
        idle = {name: (spent_s(one) - before[name]) / idle_s * 100 for name, one in processes.items()}
    return Serve(
        requests=len(table) * count,
        events=count,
        memory_mb=memory,
        total_mb=round(sum(memory.values()), 1),
        idle_s=idle_s,
        idle_worker_percent=round(idle["worker"], 3),
        idle_all_percent=round(sum(idle.values()), 3),
    )


class _Asking:
    """Sends requests, each over a connection of its own."""

    def __init__(self, port: int) -> None:
        self.port = port

    def send(self, wanted: Request) -> bytes:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            headers = {**wanted.headers, "Host": f"localhost:{self.port}"}
            connection.request(wanted.method, wanted.path, wanted.body, headers)
            answer = connection.getresponse()
            body = answer.read()
        if answer.status not in (200, 429):
            raise RuntimeError(f"{wanted.method} {wanted.path} answered {answer.status}: {body[:300]!r}")
        return body


def _deliver(asked: _Asking, each: Callable[..., Iterator[bytes]], scenery: Scenery, url: str, count: int) -> None:
    """Deploy a trigger that listens, send it ``count`` events, and wait until all of them are delivered."""
    headers = {"Authorization": f"Bearer {scenery.access_token}", "X-PD-Environment": "development"}
    base = f"/v1/connect/{scenery.project_id}"
    order = json.dumps({"id": "http-new-requests", "external_user_id": "user-0", "webhook_url": url}).encode()
    posted = {"Content-Type": "application/json"}
    made = json.loads(asked.send(Request("POST", f"{base}/triggers/deploy", {**headers, **posted}, order)))["data"]
    path = "/h/" + made["endpoint_url"].partition("/h/")[2]
    list(each(asked.send, [Request("POST", path, posted, b'{"n": %d}' % n) for n in range(count)]))
    stats = Request("GET", f"{base}/deployed-triggers/{made['id']}/stats?external_user_id=user-0", headers)
    ends = time.monotonic() + PATIENCE_S
    while json.loads(asked.send(stats))["data"]["delivered"] < count:
        if time.monotonic() > ends:
            raise RuntimeError("the events were not delivered")
        time.sleep(0.1)


@contextmanager
def _serving(data: Path, netloc: str) -> Iterator[tuple[int, int]]:
    """``patchbay serve`` in a child: the supervisor's process id, and the port of the API."""
    port = _free_port()
    own = {"PATCHBAY_DATA": str(data), "PATCHBAY_PORT": str(port), "PATCHBAY_ALLOW_HOSTS": netloc,
           "PATCHBAY_LOG_LEVEL": "error"}  # fmt: skip
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")} | own
    command = [sys.executable, "-m", "webapp.cli.main", "serve"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError("the server did not start")
            yield process.pid, port
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _free_port() -> int:
    """A port that is free, as are those that the sandbox and the mail server take beside it."""
    while True:
        port = random.randrange(12_000, 32_000)  # no secret
        sockets: Mapping[int, socket.socket] = {offset: socket.socket() for offset in PORTS}
        try:
            for offset, one in sockets.items():
                one.bind(("127.0.0.1", port + offset))
        except OSError:
            continue
        finally:
            for one in sockets.values():
                one.close()
        return port


def _verdict(reached: bool) -> str:
    return "yes" if reached else "no"
