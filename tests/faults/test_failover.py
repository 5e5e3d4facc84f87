"""Fault 5: the PostgreSQL server is killed under load and its standby promoted. No event that was accepted is lost,
none arrives under two ids, and the service goes on by itself.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests

from tests.cli.conftest import Shell
from tests.fakes.receiver import Receiver
from tests.faults.running import Running, client_of, until_more
from tests.faults.standby import USER, Pair, pair
from tests.faults.test_kill_server import CALLERS, calling, names_of
from webapp.service.worker.delivery_slots import PER_ENDPOINT

EVENTS = 150
READY_S = 5.0
LOADED = 2.0  # times as long as the first start of the same test, where other work on the machine stretches both
REPLACED = re.compile(r"The database server .* was replaced by its standby: .*")

pytestmark = pytest.mark.faults


@pytest.fixture
def servers(request: pytest.FixtureRequest) -> Iterator[Pair]:
    with pair(synchronous=getattr(request, "param", True)) as both:
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
            f"duplicates {duplicates} (at most {PER_ENDPOINT})",
            file=sys.stderr,
        )
    assert lost == set() and duplicates <= PER_ENDPOINT
    assert all(len(arrived[name]) == 1 for name in callers.accepted), "an event arrived under two ids"


@pytest.mark.alone
@pytest.mark.parametrize("servers", [True, False], indirect=True, ids=["synchronous", "asynchronous"])
def test_an_old_primary_that_comes_back_is_refused(
    server: Running, servers: Pair, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything is started again while both take writes, and the old one is the first host of the address."""
    url = client_of(server).deploy("http-new-requests", receiver.url("/hook"))["endpoint_url"]
    with calling(url) as callers:
        until_more(lambda: len(callers.accepted), EVENTS, server.last_words)
        servers.kill_primary()
        servers.promote()
        servers.start_old_primary()
        before = len(callers.accepted)
        until_more(lambda: len(callers.accepted), before + EVENTS, server.last_words)
        server.kill()
        began = time.monotonic()
        server.start()
        ready_s = time.monotonic() - began
        before = len(callers.accepted)
        until_more(lambda: len(callers.accepted), before + EVENTS, server.last_words)
    if servers.synchronous:
        arrived = lambda: len(callers.accepted & names_of(receiver).keys())  # noqa: E731
        until_more(arrived, len(callers.accepted), server.last_words, 0.2)
    said = {match[0] for match in REPLACED.finditer(server.log.read_text())}
    written = {number: _events_in(servers, number) for number in (0, 1)}
    with capsys.disabled():
        print(
            f"\nready in {ready_s:.1f} s on the new primary (to reach < {READY_S:g} s; the first start took "
            f"{server.starts_s[0]:.1f} s); accepted {len(callers.accepted)}; it said: {said}",
            file=sys.stderr,
        )
    assert ready_s < max(READY_S, LOADED * server.starts_s[0]), "a busy machine needs as long for any start"
    assert len(said) == 1 and f":{servers.ports[0]} was replaced by its standby: it is on timeline 1" in said.pop()
    assert written[0] < written[1], "what came later is on the new one only"


def test_where_only_the_old_primary_is_there_nothing_starts_and_it_says_why(
    server: Running, servers: Pair, receiver: Receiver
) -> None:
    old = {**server.shell.env, "PATCHBAY_DATABASE_URL": f"postgresql://{USER}@127.0.0.1:{servers.ports[0]}/postgres"}
    servers.kill_primary()
    servers.promote()
    until_more(lambda: int(requests.get(f"{server.base}/readyz", timeout=20).ok), 1, server.last_words)
    servers.start_old_primary()
    checked = replace(server.shell, env=old).run("check")
    assert checked.returncode == 1
    assert "was replaced by its standby: it is on timeline 1, and timeline 2 was written." in checked.stdout


def test_the_old_primary_becomes_a_standby_as_the_manual_says(servers: Pair) -> None:
    servers.kill_primary()
    servers.promote()
    servers.start_old_primary()
    with servers.connect(0) as old:
        old.execute("SET synchronous_commit = local")
        old.execute("CREATE TABLE written_too_late (id int)")
    with servers.connect(1) as new:
        new.execute("ALTER SYSTEM RESET synchronous_standby_names")
        new.execute("SELECT pg_reload_conf()")
        new.execute("CHECKPOINT")
        new.execute("CREATE TABLE written_since (id int)")
    servers.rewind_old_primary()
    with servers.connect(0) as standby, servers.connect(1) as new:
        until_more(lambda: len(new.execute("SELECT 1 FROM pg_stat_replication").fetchall()), 1)
        until_more(lambda: _has_table(standby, "written_since"), 1)
        assert not _has_table(standby, "written_too_late")
        assert standby.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)


def _events_in(servers: Pair, number: int) -> int:
    with servers.connect(number) as connection:
        row = connection.execute("SELECT COUNT(*) FROM events").fetchone()
    return int(row[0]) if row else 0


def _has_table(connection: psycopg.Connection[Any], name: str) -> int:
    return len(connection.execute("SELECT 1 FROM pg_tables WHERE tablename = %s", [name]).fetchall())
