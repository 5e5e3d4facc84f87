"""Fault 5, whole: two web processes and four workers on one data folder, over PostgreSQL with a synchronous standby,
Redis and HAProxy, under load. Each process is killed in turn, Redis is started anew, the primary is killed and the
standby promoted: no event that was accepted is lost, no tick is doubled, no request fails but those in flight.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from tests.cli.conftest import Shell
from tests.fakes.ports import free_port
from tests.fakes.receiver import Receiver
from tests.faults.proxy import Proxy, proxied
from tests.faults.running import Running, client_of, until_more
from tests.faults.standby import Pair, pair
from tests.faults.test_kill_server import CALLERS, Callers, calling, names_of
from tests.faults.test_limits_in_redis import Redis, redis
from webapp.service.worker.delivery_slots import PER_ENDPOINT

__all__ = ["redis"]
pytestmark = [pytest.mark.faults, pytest.mark.alone]
EVENTS = 60
TIMERS = 5
WORKERS = 4


class Row(NamedTuple):
    """A line of the table that is printed: what was done, and what it did to those who called."""

    fault: str
    accepted: int
    failed: int
    took_s: float


@dataclass
class Cluster:
    """Everything that runs."""

    webs: list[Running]
    workers: list[Running]
    proxy: Proxy
    servers: Pair
    redis: Redis

    def settled(self) -> None:
        """Wait until the proxy calls both web processes well."""
        until_more(self.proxy.well, len(self.webs), self.webs[0].last_words)

    def fail_over(self) -> None:
        """Kill the primary and promote its standby."""
        self.servers.kill_primary()
        self.servers.promote()

    def restart_redis(self) -> None:
        """Kill Redis and start it anew."""
        self.redis.kill()
        time.sleep(0.5)
        self.redis.start()


@pytest.fixture
def cluster(shell: Shell, receiver: Receiver, redis: Redis, tmp_path: Path) -> Iterator[Cluster]:
    port = free_port()
    with ExitStack() as stack:
        servers = stack.enter_context(pair())
        shared = {
            "PATCHBAY_ALLOW_HOSTS": receiver.netloc, "PATCHBAY_SANDBOX": "off", "PATCHBAY_DATABASE_URL": servers.url,
            "PATCHBAY_LIMITS_STORAGE": redis.address, "PATCHBAY_PUBLIC_URL": f"http://localhost:{port}",
            "PATCHBAY_TRUSTED_PROXIES": "127.0.0.1", "PATCHBAY_MAIL_PORT": str(free_port()),
            **{f"PATCHBAY_{quota}_REQUESTS": "1000000" for quota in ("ADDRESS", "TRIGGER", "USER")},
        }  # fmt: skip
        assert replace(shell, env={**shell.env, **shared}).run("migrate").returncode == 0
        commands = ["web", "web", *["worker"] * WORKERS]
        processes = []
        for number, command in enumerate(commands):
            env = {**shell.env, **shared, "PATCHBAY_PORT": str(free_port())}
            process = Running(replace(shell, env=env), tmp_path / f"{command}-{number}.log", command=command)
            process.start()
            stack.callback(process.kill)
            processes.append(process)
        webs, workers = processes[:2], processes[2:]
        ports = [int(web.shell.env["PATCHBAY_PORT"]) for web in webs]
        proxy = stack.enter_context(proxied(port, ports, tmp_path))
        made = Cluster(webs, workers, proxy, servers, redis)
        made.settled()
        yield made


def test_nothing_is_lost_or_doubled(cluster: Cluster, receiver: Receiver, capsys: pytest.CaptureFixture[str]) -> None:
    client = client_of(cluster.webs[0])
    url = client.deploy("http-new-requests", receiver.url("/hook"))["endpoint_url"]
    for number in range(TIMERS):
        client.deploy("schedule-custom-interval", receiver.url(f"/tick/{number}"), cron={"intervalSeconds": 1})
    with calling(url) as callers:
        _until_more_come(callers)
        rows = [_row(cluster, callers, fault, verb) for fault, verb in _faults(cluster)]
    began = time.monotonic()
    until_more(lambda: len(callers.accepted & _names(receiver)), len(callers.accepted), _words(cluster), 0.2)
    waited_s = time.monotonic() - began
    ticks, doubled = _ticks(cluster)
    lost = callers.accepted - _names(receiver)
    copies = sum(count - 1 for count in Counter(got.headers["webhook-id"] for got in receiver.got).values())
    with capsys.disabled():
        print(_table(rows), file=sys.stderr)
        print(
            f"accepted {len(callers.accepted)}, lost {len(lost)}; ticks {ticks}, doubled {len(doubled)}; sent twice "
            f"{copies} (at most {PER_ENDPOINT * len(rows)}); the last arrived {waited_s:.1f} s after the end",
            file=sys.stderr,
        )
    assert lost == set() and doubled == [] and ticks > 0
    assert all(row.failed <= CALLERS for row in rows), "only what was in flight may fail"
    assert copies <= PER_ENDPOINT * len(rows)


def _faults(cluster: Cluster) -> Iterator[tuple[str, Callable[[], None]]]:
    for processes in (cluster.webs, cluster.workers):
        for number, process in enumerate(processes, 1):
            yield f"{process.command} {number} killed", process.kill
            process.start()
            cluster.settled()
    yield "Redis started anew", cluster.restart_redis
    yield "primary killed, standby promoted", cluster.fail_over


def _row(cluster: Cluster, callers: Callers, fault: str, verb: Callable[[], None]) -> Row:
    accepted, failed, began = len(callers.accepted), callers.refused, time.monotonic()
    verb()
    _until_more_come(callers, _words(cluster))
    return Row(fault, len(callers.accepted) - accepted, callers.refused - failed, time.monotonic() - began)


def _until_more_come(callers: Callers, why: Callable[[], str] = str) -> None:
    until_more(lambda: len(callers.accepted), len(callers.accepted) + EVENTS, why)


def _words(cluster: Cluster) -> Callable[[], str]:
    return lambda: "\n".join(process.last_words() for process in (*cluster.webs, *cluster.workers))


def _names(receiver: Receiver) -> set[str]:
    """The events that came, each under one id."""
    arrived = names_of(receiver)
    assert all(len(ids) == 1 for ids in arrived.values()), "an event arrived under two ids"
    return set(arrived)


def _ticks(cluster: Cluster) -> tuple[int, list[tuple[str, int, int]]]:
    """How many ticks were kept, and those that were kept more than once."""
    sql = "SELECT trigger_id, emitted_at, COUNT(*) FROM events WHERE trigger_id IN (SELECT id FROM deployed_triggers "
    with psycopg.connect(cluster.servers.url) as connection:
        rows = connection.execute(f"{sql} WHERE emitter = 'timer') GROUP BY trigger_id, emitted_at").fetchall()
    return len(rows), [row for row in rows if row[2] > 1]


def _table(rows: list[Row]) -> str:
    head = f"\n{'fault':<34}{'accepted':>9}{'failed':>8}{'seconds':>9}"
    return "\n".join([head, *(f"{row.fault:<34}{row.accepted:>9}{row.failed:>8}{row.took_s:>9.1f}" for row in rows)])
