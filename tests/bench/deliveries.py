"""What deliveries cost: signed deliveries a second beside the same client's bare loop, and how claims and lists grow.

The receiver is a process of its own on loopback, so that it takes none of the engine's time.
"""

import json
import os
import signal
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.bench.scene import furnish
from webapp.cli.serving.logs import flush
from webapp.kit import cursors
from webapp.kit.crypto import new_id, ordered_id
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import claims, deliveries, events, log, trigger_webhooks
from webapp.service.domain.deliveries import claims as outcomes
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import external_users, projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.failures import Failure
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.service.worker.delivery_slots import PER_ENDPOINT
from webapp.settings import Settings

RATE_TARGET, SHARE_TARGET, GROWTH_TARGET = 300.0, 0.5, 1.2
FEW = 1_000
DELIVERIES, ROUNDS = 20, 3
WARM_UP, SAMPLES = 10, 6
PER_TRIGGER = 1_000
_BODY = {"text": "x" * 300}


@dataclass(frozen=True, slots=True)
class Deliveries:
    """``signed`` and ``bare``: requests a second. The p99 of a claim and of a page, in milliseconds, where ``few`` and
    where ``many`` events are stored."""

    signed: float
    bare: float
    share: float
    few: int
    many: int
    claim_few_ms: float
    claim_many_ms: float
    claim_ratio: float
    list_few_ms: float
    list_many_ms: float
    list_ratio: float

    def text(self) -> str:
        """The lines to print."""
        return (
            f"signed deliveries, synchronous=FULL, one worker: {self.signed:.0f}/s, to reach ≥ {RATE_TARGET:g}; "
            f"the same client's bare loop {self.bare:.0f}/s: {self.share:.2f} of it, to reach ≥ {SHARE_TARGET:g}\n"
            f"p99 with {self.few:,} and with {self.many:,} stored events: claim {self.claim_few_ms:.2f} and "
            f"{self.claim_many_ms:.2f} ms ({self.claim_ratio:.2f} ×), page of deliveries {self.list_few_ms:.2f} and "
            f"{self.list_many_ms:.2f} ms ({self.list_ratio:.2f} ×), to reach ≤ {GROWTH_TARGET:g} ×"
        )


def measure(like: Path, count: int, many: int) -> Deliveries:
    """Deliver :data:`DELIVERIES` × ``count`` events, then claim and list :data:`SAMPLES` × ``count`` times with few and
    with many stored.

    ``like`` is a data folder whose catalog is taken over.
    """
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder, receiver() as netloc:
        with _opened(Path(folder) / "rate", like, netloc) as (service, scene):
            signed, bare = _rates(service, scene, netloc, DELIVERIES * count)
        with (
            _opened(Path(folder) / "few", like, netloc) as few,
            _opened(Path(folder) / "many", like, netloc) as larger,
        ):
            triggers = [_stored(*few, FEW, netloc), _stored(*larger, many, netloc)]
            services = [few[0], larger[0]]
            claims = _p99s([lambda s=s: _claim_ms(s) for s in services], count)  # type: ignore[misc]
            pairs = list(zip(services, triggers, strict=True))
            lists = _p99s([lambda p=p: _list_ms(*p) for p in pairs], count)  # type: ignore[misc]
    return Deliveries(
        signed=round(signed, 1),
        bare=round(bare, 1),
        share=round(signed / bare, 2),
        few=FEW,
        many=many,
        claim_few_ms=round(claims[0], 3),
        claim_many_ms=round(claims[1], 3),
        claim_ratio=round(claims[1] / claims[0], 2),
        list_few_ms=round(lists[0], 3),
        list_many_ms=round(lists[1], 3),
        list_ratio=round(lists[1] / lists[0], 2),
    )


def _rates(service: Service, scene: Scene, netloc: str, count: int) -> tuple[float, float]:
    """Requests a second of the engine, and of as many threads that post the same bytes and do nothing else.

    They take turns; each is the median of its rounds.
    """
    rounds = [_rate_pair(service, scene, netloc, count // ROUNDS) for _ in range(ROUNDS)]
    signed, bare = (statistics.median(column) for column in zip(*rounds, strict=True))
    return signed, bare


def _rate_pair(service: Service, scene: Scene, netloc: str, count: int) -> tuple[float, float]:
    url = f"http://{netloc}/hook"
    with service.store.write() as tx:
        trigger = bench_trigger(tx, service, scene, [url])
        events.record(tx, service, trigger, [Emitted(_BODY, str(n), None, service.clock()) for n in range(count)])
    engine = DeliveryEngine(service)
    began = time.perf_counter()
    engine.start()
    while deliveries.next_due_at(service.store) is not None:
        time.sleep(0.02)
    signed = count / (time.perf_counter() - began)
    engine.stop(5.0)
    body = events.body_bytes(_BODY)

    def post(_: int) -> None:
        if isinstance(service.outbound.request("POST", url, data=body), Failure):
            raise RuntimeError("the receiver did not answer")

    began = time.perf_counter()
    with ThreadPoolExecutor(PER_ENDPOINT) as pool:
        list(pool.map(post, range(count)))
    return signed, count / (time.perf_counter() - began)


def _stored(service: Service, scene: Scene, count: int, netloc: str) -> str:
    """``count`` events that were delivered, of as many triggers as it takes; the last trigger's id."""
    with service.store.write() as tx:
        triggers = [
            bench_trigger(tx, service, scene, [f"http://{netloc}/{n}"]) for n in range(max(count // PER_TRIGGER, 1))
        ]
    homes = [(one.id, trigger_webhooks.of_trigger(service.store, one.id)[0].id) for one in triggers]
    now = service.clock()
    with closing(sqlite3.connect(service.settings.data / "patchbay.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN IMMEDIATE")
        for number in range(count):
            trigger_id, endpoint_id = homes[number % len(homes)]
            event_id, at = ordered_id("evt"), now - count + number
            connection.execute(
                "INSERT INTO events (id, project_id, environment, trigger_id, kind, at, body) VALUES (?,?,?,?,?,?,?)",
                (event_id, scene.project_id, scene.environment, trigger_id, "emit", at, b'{"n":1}'),
            )
            connection.execute(
                "INSERT INTO deliveries (id, event_id, endpoint_id, trigger_id, status, attempt, tries, created_at, "
                "updated_at) VALUES (?,?,?,?,'delivered',1,1,?,?)",
                (ordered_id("dlv"), event_id, endpoint_id, trigger_id, at, at),
            )
        for trigger_id, _ in homes:
            name = f"deliveries|{trigger_id}|delivered"
            connection.execute("INSERT INTO counters (name, n) VALUES (?, ?)", (name, count // len(homes)))
        connection.execute("COMMIT")
    service.store.checkpoint()
    return homes[-1][0]


def _claim_ms(service: Service) -> float:
    """One event comes in and is claimed: the time of the claim. It is then written off."""
    trigger = _last_trigger(service)
    with service.store.write() as tx:
        events.record(tx, service, trigger, [Emitted(_BODY, None, None, service.clock())])
    began = time.perf_counter()
    with service.store.write() as tx:
        tasks = claims.claim(tx, service.clock() + 1, lambda *_: PER_ENDPOINT)
    took = (time.perf_counter() - began) * 1000
    with service.store.write() as tx:
        outcomes.finish(tx, [outcomes.Outcome(task, service.clock(), 1, 200, None) for task in tasks], 0)
    if len(tasks) != 1:
        raise RuntimeError(f"{len(tasks)} deliveries were claimed instead of one")
    return took


def _list_ms(service: Service, trigger_id: str) -> float:
    began = time.perf_counter()
    log.page(service.store, trigger_id, Filter(), cursors.Window(limit=100))
    return (time.perf_counter() - began) * 1000


def _p99s(sides: list[Callable[[], float]], count: int) -> list[float]:
    """The 99th percentile of each side; they take turns, so that what else goes on meets both."""
    found: list[list[float]] = [[] for _ in sides]
    for number in range(WARM_UP + SAMPLES * count):
        for side, times in zip(sides, found, strict=True):
            took = side()
            if number >= WARM_UP:
                times.append(took)
    return [sorted(times)[int(len(times) * 0.99)] for times in found]


@dataclass(frozen=True, slots=True)
class _Trigger:
    id: str
    scene: Scene
    external_user_id: str
    app: str | None = None


def bench_trigger(tx: Any, service: Service, scene: Scene, urls: list[str]) -> _Trigger:
    """The row of a trigger that nothing but events belongs to."""
    user = external_users.ensure(tx, scene, "bench", 0)
    made = _Trigger(new_id("dc"), scene, user.id)
    tx.run(
        "INSERT INTO deployed_triggers (id, project_id, environment, external_user_id, external_id, emitter, "
        "component_id, component_key, component_version, name, name_slug, props, configured_sealed, active, "
        "emit_on_deploy, deployed, created_at, updated_at) VALUES (:id, :project, :environment, :user, 'bench', "
        "'source', 'sc_bench', 'bench', '0.0.1', 'Bench', :id, '[]', :none, 1, 1, 1, 0, 0)",
        {
            "id": made.id,
            "project": scene.project_id,
            "environment": scene.environment,
            "user": user.id,
            "none": b"",
        },
    )
    trigger_webhooks.set_urls(tx, service, made, urls)
    return made


def _last_trigger(service: Service) -> _Trigger:
    sql = "SELECT id, project_id, external_user_id FROM deployed_triggers ORDER BY id DESC LIMIT 1"
    row = service.store.one(sql) or {}
    return _Trigger(row["id"], Scene(row["project_id"], "development"), row["external_user_id"])


@contextmanager
def _opened(data: Path, like: Path, netloc: str) -> Iterator[tuple[Service, Scene]]:
    furnish(data, like)
    service = open_service(Settings.from_env({"PATCHBAY_ALLOW_HOSTS": netloc}, data=data, sandbox=False))
    try:
        yield service, Scene(projects.create(service, name="Bench").id, "development")
    finally:
        close_service(service)


_FOLDERS = json.dumps([{"id": f"f{number}", "name": f"Folder {number}"} for number in range(100)]).encode()


class _Thanks(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(_FOLDERS)}\r\nConnection: close\r\n\r\n"
        self.wfile.write(head.encode() + _FOLDERS)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


@contextmanager
def receiver() -> Iterator[str]:
    """The netloc of a receiver in a child."""
    server = _Server(("127.0.0.1", 0), _Thanks)
    flush()
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
            server.serve_forever()
        finally:
            os._exit(0)
    host, port = server.server_address[:2]
    server.server_close()
    try:
        yield f"{host!s}:{port}"
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
