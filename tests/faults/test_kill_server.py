"""Fault 1: the whole server is killed at random points, and no event that it accepted is lost.

``PATCHBAY_FAULT_KILLS`` says how often (6; ``make faults FULL=1``: 100), with 100 accepted events for each kill. How
long a start takes is printed and decides nothing: other work on the machine would.
"""

import json
import os
import random
import signal
import socket
import sqlite3
import statistics
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.cli.conftest import COMMAND, ROOT, Shell
from tests.fakes.receiver import Receiver, receiving
from webapp.service.worker.delivery_engine import PER_ENDPOINT

KILLS = int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6")
EVENTS = 100 * KILLS
CALLERS = 4
READY_S = 5.0
PATIENCE_S = 180.0  # without any progress, four leases long

pytestmark = pytest.mark.faults


@dataclass
class Running:
    """A ``patchbay serve`` that is killed and started again, with everything that belongs to it."""

    shell: Shell
    log: Path
    process: subprocess.Popen[str] | None = None
    starts_s: list[float] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://localhost:{self.shell.env['PATCHBAY_PORT']}"

    def last_words(self) -> str:
        return self.log.read_text()[-2000:]

    def start(self) -> None:
        began = time.monotonic()
        with self.log.open("a") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, "serve"], env=self.shell.env, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True,
                start_new_session=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline(), self.log.read_text()
        self.starts_s.append(time.monotonic() - began)

    def kill(self) -> None:
        """All of it, at once: the supervisor and every child. It is over when the port is free."""
        assert self.process is not None
        with self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
        until_more(lambda: int(is_free(int(self.shell.env["PATCHBAY_PORT"]))), 1)


@dataclass
class Callers:
    """Threads that send events to a trigger's URL and remember which were accepted."""

    url: str
    accepted: set[str] = field(default_factory=set)
    refused: int = 0
    enough: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def work(self, number: int) -> None:
        sent = 0
        with requests.Session() as session:
            session.trust_env = False
            while not self.enough.is_set():
                name = f"{number}-{sent}"
                sent += 1
                self._send(session, name)
                time.sleep(0.002)

    def _send(self, session: requests.Session, name: str) -> None:
        try:
            answer = session.post(self.url, json={"name": name}, timeout=10)
        except requests.RequestException:
            self.refused += 1
            time.sleep(0.05)
            return
        if answer.ok:
            with self._lock:
                self.accepted.add(name)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def server(shell: Shell, receiver: Receiver, tmp_path: Path) -> Iterator[Running]:
    env = {
        **shell.env, "PATCHBAY_ALLOW_HOSTS": receiver.netloc, "PATCHBAY_MAIL": "off", "PATCHBAY_SANDBOX": "off",
    }  # fmt: skip
    running = Running(replace(shell, env=env), tmp_path / "serve.log")
    running.start()
    yield running
    running.kill()


def deployed(server: Running, webhook_url: str) -> tuple[str, str, dict[str, str]]:
    """A deployed HTTP trigger: its own URL, its path in the API, and the headers to ask with."""
    found = server.shell.json("init")
    asked = {"grant_type": "client_credentials", **{name: found[name] for name in ("client_id", "client_secret")}}
    token = requests.post(f"{server.base}/v1/oauth/token", json=asked, timeout=10).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}", "x-pd-environment": "development"}
    project = f"{server.base}/v1/connect/{found['project_id']}"
    order = {"id": "http-new-requests", "external_user_id": "alice", "webhook_url": webhook_url}
    made = requests.post(f"{project}/triggers/deploy", json=order, headers=headers, timeout=20)
    assert made.ok, made.text
    trigger: dict[str, Any] = made.json()["data"]
    return trigger["endpoint_url"], f"{project}/deployed-triggers/{trigger['id']}", headers


@contextmanager
def calling(url: str) -> Iterator[Callers]:
    callers = Callers(url)
    threads = [threading.Thread(target=callers.work, args=(number,)) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    try:
        yield callers
    finally:
        callers.enough.set()
        for thread in threads:
            thread.join()


def names_of(receiver: Receiver) -> dict[str, set[str]]:
    """Which ids each event arrived under."""
    found: dict[str, set[str]] = {}
    for one in list(receiver.got):
        found.setdefault(json.loads(one.body)["body"]["name"], set()).add(one.headers["webhook-id"])
    return found


def until_more(count: Callable[[], int], wanted: int, why: Callable[[], str] = str, every_s: float = 0.02) -> None:
    """Wait until ``count`` has reached ``wanted``, for as long as it grows."""
    best, ends = count(), time.monotonic() + PATIENCE_S
    while best < wanted:
        assert time.monotonic() < ends, f"{best} of {wanted}; {why()}"
        time.sleep(every_s)
        if (found := count()) > best:
            best, ends = found, time.monotonic() + PATIENCE_S


def is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def test_no_accepted_event_is_lost(server: Running, receiver: Receiver, capsys: pytest.CaptureFixture[str]) -> None:
    url, _, _ = deployed(server, receiver.url("/hook"))
    chance = random.Random(20261121)
    with calling(url) as callers:
        for kill in range(KILLS + 1):
            until_more(lambda: len(callers.accepted), EVENTS * (kill + 1) // (KILLS + 1), server.last_words)
            if kill < KILLS:
                time.sleep(chance.uniform(0.0, 0.3))
                server.kill()
                server.start()
    until_more(lambda: len(callers.accepted & names_of(receiver).keys()), len(callers.accepted), server.last_words, 1.0)
    arrived = names_of(receiver)
    lost = callers.accepted - arrived.keys()
    copies = Counter(one.headers["webhook-id"] for one in receiver.got)
    duplicates = sum(count - 1 for count in copies.values())
    with closing(sqlite3.connect(Path(server.shell.env["PATCHBAY_DATA"]) / "patchbay.db")) as connection:
        verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
    clean, *after_kills = server.starts_s
    with capsys.disabled():
        print(
            f"\nkills {KILLS}, accepted {len(callers.accepted)}, lost {len(lost)}, duplicates {duplicates} "
            f"(at most {PER_ENDPOINT * KILLS}), integrity {verdict}; ready after a kill in "
            f"{statistics.median(after_kills):.1f} s, at worst {max(after_kills):.1f} s (to reach < {READY_S:g} s), "
            f"the first time in {clean:.1f} s; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
        )
    assert len(callers.accepted) >= EVENTS
    assert lost == set()
    assert duplicates <= PER_ENDPOINT * KILLS
    assert all(len(arrived[name]) == 1 for name in callers.accepted), "an event arrived under two ids"
    assert verdict == "ok"
