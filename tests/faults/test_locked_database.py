"""Fault 4: while a program holds the database's lock, ninety writers are answered in time, with 503 where they have to
be, and whether the service lives is answered at once.
"""

import sqlite3
import sys
import threading
import time
from collections import Counter
from contextlib import closing

import pytest
import requests

from tests.faults.running import Running, client_of

WRITERS, LOCKED_S = 90, 12.0
ALIVE_S, ANSWERED_S = 1.0, 20.0

pytestmark = [pytest.mark.faults, pytest.mark.alone]


def test_ninety_writers_at_a_locked_database(server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    client, statuses, longest = client_of(server), Counter[int](), [0.0]

    def write() -> None:
        began = time.monotonic()
        answer = requests.post(
            f"{client.project}/tokens", json={"external_user_id": "alice"}, headers=client.headers, timeout=60
        )
        statuses[answer.status_code] += 1
        longest[0] = max(longest[0], time.monotonic() - began)

    threads = [threading.Thread(target=write) for _ in range(WRITERS)]
    with closing(sqlite3.connect(server.data / "patchbay.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        for thread in threads:
            thread.start()
        alive_s, ends = list[float](), time.monotonic() + LOCKED_S
        while time.monotonic() < ends:
            began = time.monotonic()
            assert requests.get(f"{server.base}/healthz", timeout=30).ok
            alive_s.append(time.monotonic() - began)
            time.sleep(0.1)
        holder.execute("ROLLBACK")
    for thread in threads:
        thread.join()
    write()
    with capsys.disabled():
        print(
            f"\n{WRITERS} writers at a lock of {LOCKED_S:g} s: {dict(statuses)}, the last after {longest[0]:.1f} s; "
            f"/healthz in {max(alive_s):.3f} s at worst (to reach < {ALIVE_S:g} s)",
            file=sys.stderr,
        )
    assert set(statuses) <= {200, 503} and statuses[200] >= 1
    assert longest[0] < ANSWERED_S
    assert max(alive_s) < ALIVE_S
