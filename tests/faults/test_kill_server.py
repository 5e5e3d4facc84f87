"""Fault 1: the whole server is killed at random points, and no event that it accepted is lost.

``PATCHBAY_FAULT_KILLS`` says how often (6; ``make faults FULL=1``: 100), with 100 accepted events for each kill. How
long a start takes is printed and decides nothing: other work on the machine would.
"""

import json
import os
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import pytest
import requests

from tests.fakes.receiver import Receiver
from tests.faults.running import Running, client_of, until_more
from webapp.service.worker.delivery_slots import PER_ENDPOINT
from webapp.settings import Settings
from webapp.store.stores import open_store

KILLS = int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6")
EVENTS = 100 * KILLS
CALLERS = 4
READY_S = 5.0

pytestmark = pytest.mark.faults


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
        with self._lock:
            if answer.ok:
                self.accepted.add(name)
            else:
                self.refused += 1


@contextmanager
def calling(url: str, first: int = 0) -> Iterator[Callers]:
    """Callers while the block runs, numbered from ``first``."""
    callers = Callers(url)
    threads = [threading.Thread(target=callers.work, args=(number,)) for number in range(first, first + CALLERS)]
    for thread in threads:
        thread.start()
    try:
        yield callers
    finally:
        callers.enough.set()
        for thread in threads:
            thread.join()


def names_of(receiver: Receiver, path: str = "/hook") -> dict[str, set[str]]:
    """Which ids each event arrived under."""
    found: dict[str, set[str]] = {}
    for one in receiver.of(path):
        found.setdefault(json.loads(one.body)["body"]["name"], set()).add(one.headers["webhook-id"])
    return found


def test_no_accepted_event_is_lost(server: Running, receiver: Receiver, capsys: pytest.CaptureFixture[str]) -> None:
    url = client_of(server).deploy("http-new-requests", receiver.url("/hook"))["endpoint_url"]
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
    with closing(open_store(Settings.from_env({**server.shell.env}))) as store:
        faults = store.faults()
    clean, *after_kills = server.starts_s
    with capsys.disabled():
        print(
            f"\nkills {KILLS}, accepted {len(callers.accepted)}, lost {len(lost)}, duplicates {duplicates} "
            f"(at most {PER_ENDPOINT * KILLS}), faults of the database {len(faults)}; ready after a kill in "
            f"{statistics.median(after_kills):.1f} s, at worst {max(after_kills):.1f} s (to reach < {READY_S:g} s), "
            f"the first time in {clean:.1f} s; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors",
            file=sys.stderr,
        )
    assert len(callers.accepted) >= EVENTS
    assert lost == set()
    assert duplicates <= PER_ENDPOINT * KILLS
    assert all(len(arrived[name]) == 1 for name in callers.accepted), "an event arrived under two ids"
    assert faults == []
