"""Fault 5: the PostgreSQL server is killed under load and its standby promoted. No event that was accepted is lost,
none arrives under two ids, and the service goes on by itself.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.fakes.receiver import Receiver
from tests.faults.running import Running, client_of, until_more
from tests.faults.standby import Pair, pair
from tests.faults.test_kill_server import CALLERS, calling, names_of
from webapp.service.worker.delivery_slots import PER_ENDPOINT

EVENTS = 150

pytestmark = pytest.mark.faults


@pytest.fixture
def servers() -> Iterator[Pair]:
    with pair() as both:
        yield both


@pytest.fixture
def server(shell: Shell, receiver: Receiver, servers: Pair, tmp_path: Path) -> Iterator[Running]:
    """The real server over the two of them."""
    env = {
        **shell.env, "PATCHBAY_ALLOW_HOSTS": receiver.netloc, "PATCHBAY_MAIL": "off", "PATCHBAY_SANDBOX": "off",
        "PATCHBAY_DATABASE_URL": servers.url,
        **{f"PATCHBAY_{name}_REQUESTS": "1000000" for name in ("ADDRESS", "TRIGGER", "USER")},
    }  # fmt: skip
    running = Running(replace(shell, env=env), tmp_path / "serve.log")
    running.start()
    yield running
    running.kill()


def test_no_accepted_event_is_lost(
    server: Running, servers: Pair, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    url = client_of(server).deploy("http-new-requests", receiver.url("/hook"))["endpoint_url"]
    with calling(url) as callers:
        until_more(lambda: len(callers.accepted), EVENTS, server.last_words)
        servers.kill_primary()
        servers.promote()
        before = len(callers.accepted)
        until_more(lambda: len(callers.accepted), before + EVENTS, server.last_words)
    until_more(lambda: len(callers.accepted & names_of(receiver).keys()), len(callers.accepted), server.last_words, 0.2)
    arrived = names_of(receiver)
    lost = callers.accepted - arrived.keys()
    duplicates = sum(count - 1 for count in Counter(one.headers["webhook-id"] for one in receiver.got).values())
    with capsys.disabled():
        print(
            f"\naccepted {len(callers.accepted)}, lost {len(lost)}, refused {callers.refused} of {CALLERS} callers, "
            f"duplicates {duplicates} (at most {PER_ENDPOINT})"
        )
    assert lost == set() and duplicates <= PER_ENDPOINT
    assert all(len(arrived[name]) == 1 for name in callers.accepted), "an event arrived under two ids"
