"""What one account, one event and one delivery cost: room in the database, bytes of the log, and CPU of the worker.

Measured on the domain, over a store on a real disk. The provider and the receiver answer on loopback; their own time is
not counted, as each cost is the CPU time of the thread that does the work.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.deliveries import bench_trigger, receiver
from tests.fakes.provider import APP_TOML, FakeProvider, serving
from tests.service.domain.conftest import Bench
from webapp.kit.clock import HOUR, FakeClock
from webapp.service.components.calls import Emitted
from webapp.service.domain.accounts import health, oauth_apps, token_refresh
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import claims, deliveries, events
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.settings import Settings

BODY = {"text": "x" * 480}
SIGNED = {
    "x-pd-signature": f"t=1800000000,v1={'0' * 64}", "webhook-id": "evt_" + "0" * 24, "webhook-timestamp": "1800000000",
    "webhook-signature": f"v1,{'0' * 44}",
}  # fmt: skip
RESPONSE = {"headers": {"Content-Type": "application/json", "Content-Length": "2"}, "body": "{}"}
AT_ONCE, SENT = 50, 1_000


@dataclass(frozen=True, slots=True)
class Costs:
    """Bytes, and CPU milliseconds, each for one. An event has 500 bytes and one delivery that succeeds at
    once. ``deliver_ms`` is the store's part of ``send_ms``, which is all that the worker does for a delivery. The two
    ``lock_ms`` are by the clock: how long one keeps other writers waiting, where many share a commit."""

    events: int
    accounts: int
    event_room: float
    account_room: float
    event_log: float
    record_ms: float
    record_lock_ms: float
    deliver_lock_ms: float
    deliver_ms: float
    send_ms: float
    refresh_ms: float
    check_ms: float


def measure(events_count: int, accounts_count: int, url: str | None = None) -> Costs:
    """Measure all of them, with so many events and accounts, in the PostgreSQL database at ``url`` if there is one."""
    with (
        tempfile.TemporaryDirectory(prefix="patchbay-costs-") as folder,
        receiver() as netloc,
        _bench(Path(folder), netloc, url) as bench,
    ):
        before = _size(bench.service)
        account_room, refresh_ms, check_ms = _accounts(bench, accounts_count, before)
        return Costs(
            events=events_count,
            accounts=accounts_count,
            account_room=account_room,
            refresh_ms=refresh_ms,
            check_ms=check_ms,
            **_events(bench.service, bench.scene, events_count),
            record_lock_ms=_record_lock_ms(bench.service, bench.scene),
            send_ms=_send_ms(bench.service, bench.scene, netloc),
        )


def _accounts(bench: Bench, count: int, before: int) -> tuple[float, float, float]:
    names = [f"user-{number}" for number in range(count)]
    bench.acme.grants = {}
    made = [bench.connect(token=bench.token(name), refresh_token=f"{name}.0", access_token="t" * 40) for name in names]
    room = (_size(bench.service) - before) / count
    check_ms = _cpu_ms(lambda: [health.check(bench.service, account) for account in made]) / count
    bench.clock.advance(HOUR)
    refresh_ms = _cpu_ms(lambda: [token_refresh.refresh(bench.service, account) for account in made]) / count
    return round(room, 1), round(refresh_ms, 3), round(check_ms, 3)


def _events(service: Service, scene: Scene, count: int) -> dict[str, float]:
    with service.store.write() as tx:
        triggers = [bench_trigger(tx, service, scene, [f"http://127.0.0.1:1/{number}"]) for number in range(AT_ONCE)]
    before = _size(service)
    log = record_ms = deliver_ms = deliver_lock_ms = 0.0
    for first in range(0, count, AT_ONCE):
        numbers = range(first, first + AT_ONCE)
        log_before = service.store.sizes().log
        record_ms += _cpu_ms(lambda numbers=numbers: _record(service, triggers, numbers))  # type: ignore[misc]
        began = time.perf_counter()
        deliver_ms += _cpu_ms(lambda: _deliver(service))
        deliver_lock_ms += (time.perf_counter() - began) * 1000
        log += service.store.sizes().log - log_before
        service.store.checkpoint()
    return {
        "event_room": round((_size(service) - before) / count, 1),
        "event_log": round(log / count, 1),
        "record_ms": round(record_ms / count, 4),
        "deliver_ms": round(deliver_ms / count, 4),
        "deliver_lock_ms": round(deliver_lock_ms / count, 4),
    }


def _record_lock_ms(service: Service, scene: Scene) -> float:
    """Many threads record at once, as a web process does under load, and nothing else is done."""
    with service.store.write() as tx:
        triggers = [bench_trigger(tx, service, scene, [f"http://127.0.0.1:1/{number}"]) for number in range(AT_ONCE)]
    began = time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(
            pool.map(
                lambda number: _record(service, triggers[number % AT_ONCE :], range(number, number + 1)), range(SENT)
            )
        )
    lock_ms = (time.perf_counter() - began) * 1000
    while deliveries.next_due_at(service.store) is not None:
        _deliver(service)
    return round(lock_ms / SENT, 4)


def _send_ms(service: Service, scene: Scene, netloc: str) -> float:
    """What the engine spends on one of :data:`SENT` deliveries, all of its threads together."""
    with service.store.write() as tx:
        triggers = [bench_trigger(tx, service, scene, [f"http://{netloc}/{number}"]) for number in range(AT_ONCE)]
        for number in range(SENT):
            events.record(tx, service, triggers[number % AT_ONCE], [Emitted(BODY, str(number), None, service.clock())])
    engine = DeliveryEngine(service)
    began = time.process_time()
    engine.start()
    while deliveries.next_due_at(service.store) is not None:
        time.sleep(0.02)
    spent = time.process_time() - began
    engine.stop(5.0)
    return round(spent / SENT * 1000, 3)


def _record(service: Service, triggers: Sequence[Any], numbers: range) -> None:
    """One event of each trigger, each in a transaction of its own, as requests come in."""
    for trigger, number in zip(triggers, numbers, strict=False):
        with service.store.write() as tx:
            events.record(tx, service, trigger, [Emitted(BODY, str(number), None, service.clock())])


def _deliver(service: Service) -> None:
    """All that is due is claimed at once and written down at once, as the worker does under load; nothing is sent."""
    now = service.clock()
    with service.store.write() as tx:
        tasks = claims.claim(tx, now + 1, lambda *_: AT_ONCE)
    with service.store.write() as tx:
        claims.finish(tx, [claims.Outcome(task, now, 12, 200, None, None, SIGNED, RESPONSE) for task in tasks], now)


def _cpu_ms(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1000


def _size(service: Service) -> int:
    service.store.checkpoint()
    return service.store.sizes().database


@contextmanager
def _bench(folder: Path, netloc: str, url: str | None) -> Iterator[Bench]:
    """A service with one project and one app, whose provider answers on loopback."""
    with serving() as acme:
        _write_app(folder, acme)
        clock = FakeClock()
        allowed = {"PATCHBAY_ALLOW_HOSTS": f"127.0.0.1:{acme.port},{netloc}"}
        settings = Settings.from_env(allowed, data=folder, sandbox=False, database_url=url)
        service = open_service(settings, clock)
        try:
            project = projects.create(service, name="Costs", support_email="help@costs.example")
            oauth_apps.add(service, app="acme", client_id="c", client_secret="s", project_id=project.id)
            yield Bench(service, clock, acme, Scene(project.id, "development"))
        finally:
            close_service(service)
            shutil.rmtree(folder / "apps", ignore_errors=True)


def _write_app(folder: Path, acme: FakeProvider) -> None:
    (folder / "apps" / "acme").mkdir(parents=True)
    (folder / "apps" / "acme" / "app.toml").write_text(APP_TOML.replace("{origin}", acme.origin))
