"""Signed deliveries a second of one worker and of four that share a PostgreSQL database: ``make bench-workers``.

Each worker is a process with the delivery engine alone; the receiver is one, too. They claim side by side, and in turns
as all other writes do. A commit waits for the disk of this machine, or for one (or a standby) that takes 5 ms. Rounds
take turns, so that what else goes on meets all of them.
"""

import itertools
import math
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

from tests.bench.deliveries import bench_trigger, receiver
from tests.fakes.databases import postgres_server
from webapp.service.components.calls import Emitted
from webapp.service.domain.deliveries import deliveries, events
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.worker import delivery_engine
from webapp.settings import Settings

COUNT, ENDPOINTS, ROUNDS = 2_000, 16, 3
DISKS = {"the disk of this machine": "", "5 ms for each commit": "-c commit_delay=5000 -c commit_siblings=0"}
WORKERS = (1, 4)
MODES = {"side by side": 0.0, "in turns": math.inf}  # from when on the engine does not claim alone
_BODY = {"text": "x" * 300}


def main() -> None:
    """Print the table."""
    for disk, options in DISKS.items():
        with _opened(options) as (settings, netloc):
            sides = list(itertools.product(WORKERS, MODES))
            rounds = [[_rate(settings, netloc, *side) for side in sides] for _ in range(ROUNDS)]
        print(f"{disk}, deliveries a second:")
        for (workers, mode), rates in zip(sides, zip(*rounds, strict=True), strict=True):
            print(f"  {workers} workers {mode}: {statistics.median(rates):.0f} ({min(rates):.0f}–{max(rates):.0f})")


@contextmanager
def _opened(options: str) -> Iterator[tuple[Settings, str]]:
    with (
        postgres_server.server(f"-c fsync=on {options}") as account,
        receiver() as netloc,
        tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder,
    ):
        url = f"postgresql://{account.user}:{account.password.replace(' ', '%20')}@127.0.0.1:{account.port}/postgres"
        env = {"PATCHBAY_ALLOW_HOSTS": netloc, "PATCHBAY_DATABASE_URL": url}
        settings = Settings.from_env(env, data=Path(folder), sandbox=False)
        close_service(open_service(settings))  # which makes its tables
        yield settings, netloc


def _rate(settings: Settings, netloc: str, workers: int, mode: str) -> float:
    go, enough, ready = multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Barrier(workers + 1)
    arguments = (settings, MODES[mode], ready, go, enough)
    processes = [multiprocessing.Process(target=_work, args=arguments) for _ in range(workers)]
    for process in processes:
        process.start()
    ready.wait(30)
    service = open_service(settings)
    scene = Scene(projects.create(service, name="Bench").id, "development")
    with service.store.write() as tx:
        for number in range(ENDPOINTS):
            trigger = bench_trigger(tx, service, scene, [f"http://{netloc}/{number}"])
            events.record(tx, service, trigger, [Emitted(_BODY, None, None, 0)] * (COUNT // ENDPOINTS))
    began = time.perf_counter()
    go.set()
    while deliveries.next_due_at(service.store) is not None:
        time.sleep(0.02)
    rate = COUNT / (time.perf_counter() - began)
    enough.set()
    for process in processes:
        process.join(30)
    close_service(service)
    return rate


def _work(settings: Settings, alone_until: float, ready: Barrier, go: Event, enough: Event) -> None:
    service = open_service(settings)
    engine = delivery_engine.DeliveryEngine(service)
    engine.alone_until = alone_until
    ready.wait(30)
    go.wait(60)
    engine.start()
    enough.wait(300)
    engine.stop(5.0)
    close_service(service)


if __name__ == "__main__":
    main()
