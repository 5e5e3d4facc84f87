"""Fault 9: the database's log stays small under load, and bounded while a reader keeps it from being folded.

Another process records events at a rate, as the web process does, beside the real server, which delivers them. It
tries for 300 a second for 20 seconds (``make faults FULL=1``: ten minutes), then while a reader holds a snapshot
(15 seconds; a minute). The sizes decide; the rate that this machine could keep is printed.
"""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT
from tests.fakes.receiver import Receiver
from tests.faults.running import Running, client_of, until_more

FULL = int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6") >= 100
LOAD_S, READER_S = (600.0, 60.0) if FULL else (20.0, 15.0)
RATE, TRIGGERS, THREADS = 300, 10, 16
MB = 1 << 20
MOST, MOST_WITH_READER = 64 * MB, 256 * MB
LOAD = """
import sys, threading, time
from webapp.service.components.calls import Emitted
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.triggers import deployed_triggers, fire
from webapp.settings import Settings
seconds, rate, threads, *ids = sys.argv[1:]
seconds, rate, threads = float(seconds), int(rate), int(threads)
service = open_service(Settings.from_env())
triggers = [deployed_triggers.find(service.store, trigger_id) for trigger_id in ids]
began, lock, counts = time.monotonic(), threading.Lock(), [0]

def record():
    while time.monotonic() < began + seconds:
        with lock:
            n, counts[0] = counts[0], counts[0] + 1
        time.sleep(max(began + n / rate - time.monotonic(), 0))
        body = {"n": n, "text": "x" * 500}
        fire.emit(service, triggers[n % len(triggers)], [Emitted(body, None, f"Number {n}", None)])

workers = [threading.Thread(target=record) for _ in range(threads)]
for worker in workers: worker.start()
for worker in workers: worker.join()
close_service(service)
print(counts[0], time.monotonic() - began)
"""

pytestmark = [pytest.mark.faults, pytest.mark.alone]


@dataclass
class Watch:
    """Looks at the log's size all the time."""

    log: Path
    largest: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.ended.wait(0.01):
            self.largest = max(self.largest, self.log.stat().st_size)


@contextmanager
def watched(log: Path) -> Iterator[Watch]:
    watch = Watch(log)
    thread = threading.Thread(target=watch.run)
    thread.start()
    try:
        yield watch
    finally:
        watch.ended.set()
        thread.join()


def load(server: Running, seconds: float, triggers: list[str]) -> tuple[int, float]:
    """Record events for so long; how many there were, and how many a second."""
    command = [sys.executable, "-c", LOAD, str(seconds), str(RATE), str(THREADS), *triggers]
    done = subprocess.run(command, env=dict(server.shell.env), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count, took = done.stdout.split()
    return int(count), int(count) / float(took)


def test_the_log_stays_small(server: Running, receiver: Receiver, capsys: pytest.CaptureFixture[str]) -> None:
    client, log = client_of(server), server.data / "patchbay.db-wal"
    triggers = [client.deploy("http-new-requests", receiver.url(f"/{n}"))["id"] for n in range(TRIGGERS)]
    with watched(log) as free:
        recorded, rate = load(server, LOAD_S, triggers)
    with closing(sqlite3.connect(server.data / "patchbay.db", isolation_level=None)) as reader, watched(log) as held:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM events").fetchall()
        more, rate_with_reader = load(server, READER_S, triggers)
    until_more(lambda: len(receiver.got), recorded + more, server.last_words, 0.5)
    ends = time.monotonic() + 30
    while log.stat().st_size > MOST and time.monotonic() < ends:
        time.sleep(0.1)
    with capsys.disabled():
        print(
            f"\nlog at most {free.largest / MB:.0f} MB at {rate:.0f} events/s for {LOAD_S:g} s (to reach ≤ 64 MB at "
            f"{RATE}/s); beside a reader's snapshot at most {held.largest / MB:.0f} MB at {rate_with_reader:.0f} "
            f"events/s for {READER_S:g} s (to reach ≤ 256 MB); afterwards {log.stat().st_size / MB:.0f} MB; "
            f"{recorded + more} recorded, {len(receiver.got)} arrived",
            file=sys.stderr,
        )
    assert free.largest <= MOST
    assert held.largest <= MOST_WITH_READER
    assert log.stat().st_size <= MOST, "it is folded once the reader has gone"
