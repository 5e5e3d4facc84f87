"""Throughput of ``patchbay serve`` with one and with two web processes, side by side: ``make bench-processes``.

The clients are sockets of one thread, which sends bytes that were made before and reads lengths; what it takes of the
cores is printed too, since it shares them with the servers. Rounds take turns, so that what else goes on meets both.
"""

import json
import os
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import click

from tests.bench.calls import Request
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
            requests = {count: [_raw(each, PORTS[count]) for each in asked(sceneries, PORTS[count])] for count in PORTS}
            for _ in range(rounds):
                for count, server in servers.items():
                    pids = [server.pid, *children_of(server.pid)]
                    before = sum(map(spent_s, pids))
                    answered, wall_s, own_s = _drive(PORTS[count], requests[count], seconds, clients)
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


def _tokens(sceneries: Sequence[Scenery], _: int) -> list[Request]:
    body = {"Content-Type": "application/json"}
    return [
        Request(
            "POST", f"{each.base}/tokens", {**each.headers, **body}, json.dumps({"external_user_id": user}).encode()
        )
        for user in (f"user-{number}" for number in range(USERS))
        for each in sceneries
    ]


def _lists(sceneries: Sequence[Scenery], _: int) -> list[Request]:
    return [Request("GET", f"{each.base}/accounts?limit=100", each.headers) for each in sceneries]


def _pages(_: Sequence[Scenery], port: int) -> list[Request]:
    cookies = [Serve(port, os.getpid()).sign_in(email(number)) for number in range(PEOPLE)]
    return [Request("GET", "/apps", {"Cookie": cookie}) for cookie in cookies]


def _events(sceneries: Sequence[Scenery], port: int) -> list[Request]:
    """Events of triggers that deliver to nobody: what it takes to keep them, alone."""
    with closing(Client(port)) as client:
        paths = [deploy(client, each, each.user, None).path for each in sceneries]
    return [Request("POST", path, {"Content-Type": "application/json"}, b'{"n": 1}') for path in paths]


ROWS = {
    "create a token": _tokens,
    "list 100 accounts": _lists,
    "the page of apps": _pages,
    "an event kept at /h/": _events,
}


def _raw(wanted: Request, port: int) -> bytes:
    length = {"Content-Length": str(len(wanted.body))} if wanted.body else {}
    headers = {"Host": f"localhost:{port}", **wanted.headers, **length}
    lines = [f"{wanted.method} {wanted.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + wanted.body


def _drive(port: int, requests: Sequence[bytes], seconds: float, clients: int) -> tuple[int, float, float]:
    """How many were answered, in how many seconds, and what that took of a processor here."""
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(clients)]
    by_number, missing = {each.fileno(): each for each in connections}, dict[int, int]()
    following = _endless(requests)
    epoll = select.epoll()
    began, own = time.perf_counter(), time.process_time()
    for each in connections:
        epoll.register(each, select.EPOLLIN)
        each.sendall(next(following))
    answered, left = 0, clients
    while left:
        for number, _ in epoll.poll():
            data = by_number[number].recv(1 << 18)
            rest = missing.get(number, 0) or _length(data)
            missing[number] = rest - len(data)
            if missing[number] > 0:
                continue
            answered += 1
            if time.perf_counter() - began < seconds:
                by_number[number].sendall(next(following))
            else:
                left -= 1
    wall_s, own_s = time.perf_counter() - began, time.process_time() - own
    epoll.close()
    for each in connections:
        each.close()
    return answered, wall_s, own_s


_position = [0]


def _endless(requests: Sequence[bytes]) -> Iterator[bytes]:
    """One after another, going on where the round before ended: limits are counted for each user."""
    while True:
        _position[0] += 1
        yield requests[_position[0] % len(requests)]


def _length(data: bytes) -> int:
    """How long the answer is that begins with ``data``. Raises ``RuntimeError`` for one that is no success."""
    if not data.startswith(b"HTTP/1.1 2"):
        raise RuntimeError(data[:300].decode("utf-8", "replace"))
    begins = data.index(b"Content-Length: ") + 16
    return data.index(b"\r\n\r\n") + 4 + int(data[begins : data.index(b"\r", begins)])


if __name__ == "__main__":
    processes()
