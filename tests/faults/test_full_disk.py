"""Fault 10: the disk of the embedded database is full for a while. What cannot be stored is refused with 503, reading
goes on, and with room again everything goes on by itself; what was accepted before, meanwhile and afterwards arrives.
"""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import requests

from tests.fakes.disks import fill_up, small_disk
from tests.fakes.receiver import Receiver
from tests.faults.running import Running, client_of, processes_of, until_more
from tests.faults.test_kill_server import calling, names_of
from webapp.settings import Settings
from webapp.store.stores import open_store

ROOM_KIB = 128 * 1024
LEFT = 400_000  # bytes
EVENTS = 50

pytestmark = [pytest.mark.faults, pytest.mark.embedded]


@pytest.fixture
def data(tmp_path: Path, built_catalog: Path) -> Iterator[Path]:
    """A data folder on a small disk, with nothing but the catalog."""
    with small_disk(tmp_path / "data", ROOM_KIB) as folder:
        shutil.copy(built_catalog, folder)
        yield folder


def test_nothing_is_lost_while_the_disk_is_full(
    server: Running, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    client = client_of(server)
    url = client.deploy("http-new-requests", receiver.url("/hook"))["endpoint_url"]
    before = processes_of(server)
    with calling(url) as callers:
        until_more(lambda: len(callers.accepted), EVENTS, server.last_words)
        ballast = fill_up(server.data, LEFT)
        until_more(lambda: callers.refused, callers.refused + EVENTS, server.last_words)
        refused = requests.post(url, json={"name": "x" * 100_000}, timeout=10)
        listed = requests.get(f"{client.project}/accounts", headers=client.headers, timeout=10)
        ready = requests.get(f"{server.base}/readyz", timeout=10)
        ballast.unlink()
        began, stored = time.monotonic(), len(callers.accepted)
        until_more(lambda: len(callers.accepted), stored + EVENTS, server.last_words)
        again_s = time.monotonic() - began
    until_more(lambda: len(callers.accepted & names_of(receiver).keys()), len(callers.accepted), server.last_words, 0.2)
    arrived = names_of(receiver)
    with closing(open_store(Settings.from_env({**server.shell.env}))) as store:
        faults = store.faults()
    with capsys.disabled():
        print(
            f"\nfull disk: {callers.refused} refused, {len(callers.accepted)} accepted and arrived; {EVENTS} accepted "
            f"{again_s:.1f} s after there was room",
            file=sys.stderr,
        )
    assert (refused.status_code, listed.status_code, ready.status_code) == (503, 200, 503)
    assert "Retry-After" in refused.headers
    assert "disk is full" in server.log.read_text()
    assert requests.get(f"{server.base}/readyz", timeout=10).ok
    assert processes_of(server) == before, "no process ended"
    assert all(len(arrived[name]) == 1 for name in callers.accepted), "an event arrived under two ids"
    assert faults == []
