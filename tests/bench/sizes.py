"""``make sizes``: what one machine does and how much room it takes, and from that, which machine a load needs.

The clients are processes of the same machine and share its processors: a server of its own does more.
"""

import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from tests.bench import costs
from tests.bench.calls import Next, Request, event, operations, pages
from tests.bench.costs import Costs
from tests.bench.deliveries import receiver
from tests.bench.meter import Client, children_of
from tests.bench.scene import email, prepare
from tests.bench.serving import Listener, Serve, deploy, serving
from webapp.cli.options import JSON
from webapp.cli.serving.logs import configure
from webapp.settings import Settings

CLIENTS, COUNT = 8, 1_200
REFRESHED_S, CHECKED_S, DAY_S = 55 * 60, 5.4 * 3600, 86_400
"""A token of an hour is refreshed five minutes early; an account is looked after every 4.8 to 6 hours."""
PEAK, KEPT_DAYS = 5, 30
LOADS = ((1_000, 10_000, 10_000), (10_000, 100_000, 100_000), (100_000, 1_000_000, 1_000_000),
         (100_000, 5_000_000, 1_000_000))  # fmt: skip
"""Accounts whose tokens last an hour, events a day, calls of the API a day."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests a second of :data:`CLIENTS` clients, and CPU milliseconds of all of ``serve`` for each."""

    name: str
    per_s: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Need:
    """What a load takes: processors on average and where it is :data:`PEAK` times as much, and GB of disk."""

    accounts: int
    events: int
    calls: int
    busy: float
    busy_at_peak: float
    disk_gb: float


@click.command()
@click.option("--events", default=100_000, show_default=True, help="Events whose room is measured.")
@click.option("--accounts", default=5_000, show_default=True, help="Accounts whose room is measured.")
@click.option("--requests", "count", default=COUNT, show_default=True, help="Requests of each kind.")
@JSON
def sizes(events: int, accounts: int, count: int, as_json: bool) -> None:
    """Measure this machine, and say what loads need."""
    configure("error")
    room = costs.measure(events, accounts)
    measured_rates, memory_mb, disk_bytes = rates(count)
    needs = [need(room, measured_rates, *load) for load in LOADS]
    measured = {
        "processors": os.cpu_count(),
        "costs": asdict(room),
        "rates": [asdict(rate) for rate in measured_rates],
        "memory_mb": memory_mb,
        "written_per_event": disk_bytes,
        "needs": [asdict(row) for row in needs],
    }
    click.echo(json.dumps(measured) if as_json else text(room, measured_rates, memory_mb, disk_bytes, needs))


def need(room: Costs, rates: Sequence[Rate], accounts: int, events: int, calls: int) -> Need:
    """What is measured, times how often it happens."""
    cpu_ms = {rate.name: rate.cpu_ms for rate in rates}
    upkeep = accounts / REFRESHED_S * room.refresh_ms + accounts / CHECKED_S * room.check_ms
    asked = (events * cpu_ms["an event, delivered"] + calls * cpu_ms["create a Connect token"]) / DAY_S
    kept = accounts * room.account_room + events * KEPT_DAYS * room.event_room
    busy = (upkeep + asked) / 1000
    at_peak = (upkeep + PEAK * asked) / 1000
    return Need(accounts, events, calls, round(busy, 3), round(at_peak, 2), round(kept / 1e9, 1))


def text(room: Costs, rates: Sequence[Rate], memory_mb: float, disk_bytes: float, needs: Sequence[Need]) -> str:
    """What to print."""
    lines = [
        f"room of 1,000,000 events of 500 bytes with a delivery each: {room.event_room / 1000:.2f} GB "
        f"(measured with {room.events:,})",
        f"room of 1,000,000 accounts: {room.account_room / 1000:.2f} GB (measured with {room.accounts:,})",
        f"log of one event that is committed alone, and its delivery in a batch: {room.event_log / 1000:.1f} kB",
        f"CPU of the store: record an event {room.record_ms:.2f} ms, claim and settle {room.deliver_ms:.2f} ms",
        f"CPU of the worker: deliver {room.send_ms:.2f} ms, refresh a token {room.refresh_ms:.2f} ms, "
        f"look after an account {room.check_ms:.2f} ms",
        f"memory of all of serve afterwards: {memory_mb:.0f} MB PSS",
        f"written to the disk for one event: {disk_bytes / 1000:.0f} kB",
        "",
        f"{CLIENTS} clients on the same {os.cpu_count()} processors   a second   CPU ms",
        *(f"{rate.name:<38} {rate.per_s:>8.0f} {rate.cpu_ms:>8.2f}" for rate in rates),
        "",
        f"accounts   events a day   calls a day   processors   at {PEAK} × the load   GB for {KEPT_DAYS} days",
        *(
            f"{row.accounts:>8,} {row.events:>14,} {row.calls:>13,} {row.busy:>12.2f} {row.busy_at_peak:>15.2f} "
            f"{row.disk_gb:>16.1f}"
            for row in needs
        ),
    ]
    return "\n".join(lines)


def rates(count: int) -> tuple[list[Rate], float, float]:
    """How fast ``serve`` answers, and last delivers events; its memory in MB then, and bytes written for an event."""
    with tempfile.TemporaryDirectory(prefix="patchbay-sizes-") as folder, receiver() as netloc:
        data = Path(folder)
        settings = Settings.from_env({}, data=data, sandbox=False)
        sceneries = prepare(settings, projects_count=9, account_count=1_000, app_count=500, people_count=1)
        with serving(data, netloc) as server, closing(server.client()) as client:
            cookie = server.sign_in(email(0))
            listener = deploy(client, sceneries[0], sceneries[0].user, f"http://{netloc}/hook")
            table = operations(sceneries[1:])[:4]
            page = pages([cookie] * 9, listener.id, "/apps/github/actions/github-create-issue")[0]
            measured = [_rate(server, operation.name, operation.next, count) for operation in (*table, page)]
            before = _written(server)
            measured.append(_delivered(server, listener, count))
            written = (_written(server) - before) / count
            return measured, round(server.memory_mb(), 1), round(written, 1)


def _rate(server: Serve, name: str, following: Next, count: int) -> Rate:
    requests = [following() for _ in range(count)]
    before, began = server.spent_s(), time.perf_counter()
    _send_all(server.port, requests)
    took, spent = time.perf_counter() - began, server.spent_s() - before
    return Rate(name, round(count / took, 1), round(spent / count * 1000, 3))


def _delivered(server: Serve, listener: Listener, count: int) -> Rate:
    following = event(listener.path)
    requests = [following() for _ in range(count)]
    before, began = server.spent_s(), time.perf_counter()
    _send_all(server.port, requests)
    with closing(server.client()) as client:  # the first one was idle for too long
        listener.wait(client, count)
    took, spent = time.perf_counter() - began, server.spent_s() - before
    return Rate("an event, delivered", round(count / took, 1), round(spent / count * 1000, 3))


def _send_all(port: int, requests: Sequence[Request]) -> None:
    shares = [requests[number::CLIENTS] for number in range(CLIENTS)]
    with multiprocessing.get_context("fork").Pool(CLIENTS) as pool:
        pool.starmap(_send, [(port, share) for share in shares])


def _send(port: int, requests: Sequence[Request]) -> None:
    with closing(Client(port)) as client:
        for wanted in requests:
            client.ask(wanted)


def _written(server: Serve) -> float:
    """Bytes that its processes had written to the disk so far."""
    pids = [server.supervisor, *children_of(server.supervisor)]
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/io").read_text().splitlines()]
    return float(sum(int(line.split()[1]) for line in lines if line.startswith("write_bytes:")))


if __name__ == "__main__":
    sizes()
