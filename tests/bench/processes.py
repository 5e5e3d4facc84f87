"""Throughput of ``patchbay serve`` with one and with two web processes, side by side: ``make bench-processes``.

What the clients (:mod:`tests.bench.driver`) take of the cores is printed too, since they share them with the servers.
Rounds take turns, so that what else goes on meets both.
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from tests.bench.calls import Request
from tests.bench.driver import drive, raw
from tests.bench.meter import Client, children_of, spent_s
from tests.bench.scene import Scenery, email, prepare
from tests.bench.serving import Serve, deploy, unbounded
from webapp.settings import Settings

PEOPLE, PROJECTS, USERS = 16, 20, 400
TO_REACH = 1.7
PORTS = {1: 23_100, 2: 23_200}


@click.command()
@click.option("--clients", default=32, show_default=True, help="Connections that ask all the time.")
@click.option("--seconds", default=2.0, show_default=True, help="How long each round lasts.")
@click.option("--rounds", default=5, show_default=True, help="Rounds of each.")
def processes(clients: int, seconds: float, rounds: int) -> None:
    """Measure requests a second, CPU per request and cores in use."""
    folder = Path(tempfile.mkdtemp(prefix="patchbay-bench-"))
    settings = Settings.from_env({}, data=folder / "1", sandbox=False)
    sceneries = prepare(settings, projects_count=PROJECTS, account_count=1_000, app_count=300, people_count=PEOPLE)
    shutil.copytree(folder / "1", folder / "2")
    servers = {count: _start(folder / str(count), count) for count in PORTS}
    try:
        for name, asked in ROWS.items():
            rates: dict[int, list[float]] = {count: [] for count in PORTS}
            lines = {}
            requests = {count: [raw(each, PORTS[count]) for each in asked(sceneries, PORTS[count])] for count in PORTS}
            for _ in range(rounds):
                for count, server in servers.items():
                    pids = [server.pid, *children_of(server.pid)]
                    before = sum(map(spent_s, pids))
                    answered, wall_s, own_s = drive(PORTS[count], requests[count], seconds, clients)
                    spent = sum(map(spent_s, pids)) - before
                    rates[count].append(answered / wall_s)
                    lines[count] = f"{spent / answered * 1000:.2f} ms, {spent / wall_s:.2f} cores"
            one, two = (statistics.median(rates[count]) for count in PORTS)
            click.echo(
                f"{name}: {one:.0f}/s with one process ({lines[1]}), {two:.0f}/s with two ({lines[2]}), "
                f"x {two / one:.2f} (to reach {TO_REACH}); "
                f"the clients take {own_s / wall_s:.2f} cores; load {os.getloadavg()[0]:.1f}"
            )
    finally:
        for server in servers.values():
            server.send_signal(signal.SIGTERM)
            server.wait()
        shutil.rmtree(folder)


def _start(data: Path, count: int) -> subprocess.Popen[bytes]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    env |= {"PATCHBAY_DATA": str(data), "PATCHBAY_PORT": str(PORTS[count]), "PATCHBAY_WEB": str(count)}
    env |= {"PATCHBAY_SANDBOX": "off", "PATCHBAY_MAIL": "off", "PATCHBAY_LOG_LEVEL": "error", **unbounded()}
    process = subprocess.Popen([sys.executable, "-m", "webapp.cli.main", "serve"], env=env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def tokens(sceneries: Sequence[Scenery], _: int) -> list[Request]:
    """Connect tokens of many users."""
    body = {"Content-Type": "application/json"}
    return [
        Request(
            "POST", f"{each.base}/tokens", {**each.headers, **body}, json.dumps({"external_user_id": user}).encode()
        )
        for user in (f"user-{number}" for number in range(USERS))
        for each in sceneries
    ]


def lists(sceneries: Sequence[Scenery], _: int) -> list[Request]:
    """The first 100 accounts of each project."""
    return [Request("GET", f"{each.base}/accounts?limit=100", each.headers) for each in sceneries]


def _pages(_: Sequence[Scenery], port: int) -> list[Request]:
    cookies = [Serve(port, os.getpid()).sign_in(email(number)) for number in range(PEOPLE)]
    return [Request("GET", "/apps", {"Cookie": cookie}) for cookie in cookies]


def events(sceneries: Sequence[Scenery], port: int) -> list[Request]:
    """Events of triggers that deliver to nobody: what it takes to keep them, alone."""
    with closing(Client(port)) as client:
        paths = [deploy(client, each, each.user, None).path for each in sceneries]
    return [Request("POST", path, {"Content-Type": "application/json"}, b'{"n": 1}') for path in paths]


ROWS = {
    "create a token": tokens,
    "list 100 accounts": lists,
    "the page of apps": _pages,
    "an event kept at /h/": events,
}


if __name__ == "__main__":
    processes()
