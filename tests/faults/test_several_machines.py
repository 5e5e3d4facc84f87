"""Fault 5: two machines share a PostgreSQL server, and each is killed in turn. No event that was accepted is lost, what
the dead one had begun is taken over by the other, and each event arrives under one id.
"""

import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.fakes.ports import free_port
from tests.fakes.receiver import Receiver
from tests.faults.running import Running, client_of, until_more
from tests.faults.test_kill_server import CALLERS, Callers, calling, names_of
from tests.once import postgres
from webapp.service.worker.delivery_slots import PER_ENDPOINT

EVENTS = 100

pytestmark = pytest.mark.faults


@pytest.fixture
def machines(shell: Shell, receiver: Receiver, tmp_path: Path) -> Iterator[list[Running]]:
    """Two servers with folders of their own, one database and one key."""
    name = postgres.new("template0")
    shared = {
        "PATCHBAY_ALLOW_HOSTS": receiver.netloc, "PATCHBAY_MAIL": "off", "PATCHBAY_SANDBOX": "off",
        "PATCHBAY_DATABASE_URL": postgres.url(name), "PATCHBAY_SECRET_KEY": "kT7vQ2mX9cL4pR8wZ1sN6dF3hJ5gB0yAeU",
        **{f"PATCHBAY_{quota}_REQUESTS": "1000000" for quota in ("ADDRESS", "TRIGGER", "USER")},
    }  # fmt: skip
    folders = [Path(shell.env["PATCHBAY_DATA"]), tmp_path / "other"]
    shutil.copytree(folders[0], folders[1])
    with ExitStack() as stack:
        running = []
        for folder in folders:
            own = {"PATCHBAY_DATA": str(folder), "PATCHBAY_PORT": str(free_port())}
            server = Running(replace(shell, env={**shell.env, **shared, **own}), tmp_path / f"{folder.name}.log")
            server.start()
            stack.callback(server.kill)
            running.append(server)
        yield running
    postgres.drop(name)


def test_no_accepted_event_is_lost(
    machines: list[Running], receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = machines
    url = client_of(first).deploy("http-new-requests", receiver.url("/hook"))["endpoint_url"]
    with calling(url) as one, calling(url.replace(first.base, second.base), CALLERS) as other:
        for killed, survivor in ((first, other), (second, one)):
            _until_more_come(one, EVENTS)
            _until_more_come(other, EVENTS)
            killed.kill()
            _until_more_come(survivor, EVENTS)
            killed.start()
    began, accepted = time.monotonic(), one.accepted | other.accepted
    until_more(lambda: len(accepted & names_of(receiver).keys()), len(accepted), first.last_words, 0.5)
    waited_s, arrived = time.monotonic() - began, names_of(receiver)
    lost = accepted - arrived.keys()
    copies = Counter(got.headers["webhook-id"] for got in receiver.got)
    duplicates = sum(count - 1 for count in copies.values())
    with capsys.disabled():
        print(
            f"\naccepted {len(accepted)}, lost {len(lost)}, duplicates {duplicates} "
            f"(at most {2 * PER_ENDPOINT}); the last arrived {waited_s:.1f} s after the end (to reach < 20 s)",
            file=sys.stderr,
        )
    assert lost == set() and duplicates <= 2 * PER_ENDPOINT
    assert all(len(arrived[name]) == 1 for name in accepted), "an event arrived under two ids"


def _until_more_come(callers: Callers, count: int) -> None:
    until_more(lambda: len(callers.accepted), len(callers.accepted) + count)
