"""Two web processes on one port: what they count together, and that no client meets the end of either."""

import http.client
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.cli.conftest import Server, Shell
from tests.faults.running import Running, client_of
from webapp.service.domain.base.rate_limits import LIMITS

pytestmark = pytest.mark.faults
CLIENTS, ASKED = 6, 40
TOKEN = "m" * 20
ROUNDS = 3


@pytest.fixture
def shell(shell: Shell) -> Shell:
    return replace(shell, env={**shell.env, "PATCHBAY_WEB": "2", "PATCHBAY_METRICS_TOKEN": TOKEN})


@dataclass
class Hammer:
    """Clients that ask all the time: some keep their connection, some open one for each request."""

    port: int
    answers: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)

    def ask(self, path: str, *, keep: bool) -> None:
        connection = http.client.HTTPConnection("localhost", self.port, timeout=15)
        with closing(connection):
            while not self.over.is_set():
                try:
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    answer.read()
                    self.answers[str(answer.status)] += 1
                except (OSError, http.client.HTTPException) as error:
                    self.answers[repr(error)] += 1
                    connection.close()
                if not keep:
                    connection.close()


@contextmanager
def hammering(port: int) -> Iterator[Hammer]:
    hammer = Hammer(port)
    with ThreadPoolExecutor(CLIENTS) as pool:
        for number in range(CLIENTS):
            pool.submit(hammer.ask, "/readyz" if number % 2 else "/docs", keep=number < CLIENTS // 2)
        try:
            yield hammer
        finally:
            hammer.over.set()


def webs(server: Server) -> set[int]:
    """The web processes: those that listen on the port, but for the supervisor."""
    return {pid for pid in server.children() if listens(pid, server.port)}


def listens(pid: int, port: int) -> bool:
    """Whether a process holds the socket that listens on ``port``."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {row[9] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"}
    with suppress(OSError):
        return any(str(file.readlink())[8:-1] in inodes for file in list(Path(f"/proc/{pid}/fd").iterdir()))
    return False


@pytest.mark.alone
def test_no_request_fails_while_they_are_replaced(
    start: Callable[[], Server], eventually: Callable[[Callable[[], Any]], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    server = start()
    rounds_s = []
    with hammering(server.port) as hammer:
        for _ in range(ROUNDS):
            before, began = webs(server), time.monotonic()
            assert len(before) == 2
            server.process.send_signal(signal.SIGUSR2)
            eventually(lambda: len(webs(server)) == 2 and not webs(server) & before)  # noqa: B023
            rounds_s.append(time.monotonic() - began)
            eventually(lambda: not before & set(server.children()))  # noqa: B023
    with capsys.disabled():
        print(f"\n{ROUNDS} rounds of replacing, at most {max(rounds_s):.1f} s: {dict(hammer.answers)}", file=sys.stderr)
    assert set(hammer.answers) == {"200"}, server.errors()
    assert "ERROR" not in server.errors()
    assert server.stop() == 0


@pytest.mark.alone
def test_the_port_stays_while_one_of_them_is_killed(
    start: Callable[[], Server], eventually: Callable[[Callable[[], Any]], Any]
) -> None:
    server = start()
    before = webs(server)
    with hammering(server.port) as hammer:
        eventually(lambda: hammer.answers["200"] > 20)
        os.kill(min(before), signal.SIGKILL)
        eventually(lambda: len(webs(server)) == 2 and webs(server) != before)
    failures = sum(hammer.answers.values()) - hammer.answers["200"]
    assert failures <= CLIENTS, f"only what was in flight may fail: {hammer.answers}"
    assert not any("refused" in answer for answer in hammer.answers)


def test_metrics_are_summed_and_what_one_counted_that_was_killed_stays(
    start: Callable[[], Server], eventually: Callable[[Callable[[], Any]], Any]
) -> None:
    server = start()

    def count() -> int:
        url = f"http://localhost:{server.port}/metrics"
        shown = requests.get(url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=10).text
        found = re.search(r'^patchbay_requests_total\{method="GET",route="healthz",status="200"\} (\d+)', shown, re.M)
        return int(found[1]) if found else 0

    began = count()
    for _ in range(ASKED):
        assert requests.get(f"http://localhost:{server.port}/healthz", timeout=10).ok
    assert {count() for _ in range(8)} == {began + ASKED}, "whichever answers"
    before = webs(server)
    os.kill(min(before), signal.SIGKILL)
    eventually(lambda: len(webs(server)) == 2 and webs(server) != before)
    assert {count() for _ in range(8)} == {began + ASKED}


def test_exactly_as_many_pass_as_the_limit_says(server: Running) -> None:
    client = client_of(server)
    limit = LIMITS["tokens"].requests

    def create(_: int) -> tuple[int, str | None]:
        body = {"external_user_id": "ada"}
        answer = requests.post(f"{client.project}/tokens", json=body, headers=client.headers, timeout=20)
        return answer.status_code, answer.headers.get("X-RateLimit-Remaining")

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(create, range(limit + 100)))
    assert Counter(status for status, _ in answers) == {200: limit, 429: 100}
    assert sorted(int(left or -1) for status, left in answers if status == 200) == list(range(limit))


@pytest.mark.embedded  # a file of each tells that it lives
def test_each_has_a_generation_of_its_own_and_one_that_is_killed_is_buried(
    start: Callable[[], Server], data: Path, eventually: Callable[[Callable[[], Any]], Any]
) -> None:
    server = start()
    signs = data / ".alive"
    eventually(lambda: len(list(signs.iterdir())) == 3)
    before = set(signs.iterdir())
    os.kill(min(webs(server)), signal.SIGKILL)
    eventually(lambda: len(set(signs.iterdir()) & before) == 2 and len(list(signs.iterdir())) == 3)
