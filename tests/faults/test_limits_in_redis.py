"""Limits in a real Redis: counted together to the last call, and what happens while it is away."""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import requests

from tests.cli.conftest import Shell
from tests.fakes.ports import free_port
from tests.faults.running import Client, Running, client_of
from webapp.service.domain.base.limit_counters import AWAY_S
from webapp.service.domain.base.rate_limits import LIMITS

pytestmark = pytest.mark.faults
SERVER = shutil.which("redis-server") or shutil.which("valkey-server")
LIMIT = LIMITS["tokens"].requests


@dataclass
class Redis:
    """A server of its own on loopback, which forgets everything when it ends."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        assert SERVER is not None
        command = [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        if self.process is not None:
            with self.process:
                self.process.kill()
            self.process = None


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    if SERVER is None:
        assert not os.environ.get("CI"), "redis-server is missing"
        pytest.skip("redis-server is not installed")
    server = Redis(free_port(), tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture(params=["open", "closed"])
def shell(shell: Shell, redis: Redis, request: pytest.FixtureRequest) -> Shell:
    settings = {"WEB": "2", "LIMITS_STORAGE": redis.address, "LIMITS_AWAY": request.param}
    return replace(shell, env={**shell.env, **{f"PATCHBAY_{name}": value for name, value in settings.items()}})


def ready(server: Running) -> tuple[int, str]:
    answer = requests.get(f"{server.base}/readyz", timeout=10)
    return answer.status_code, answer.json().get("limits", answer.json().get("error"))


def counted_again(server: Running) -> float:
    """Wait until both processes reach the storage again; how long one of them took, in seconds. Which of them answers
    is chance: the one that was not asked tries by itself, :data:`AWAY_S` after it last missed the storage."""
    began = time.monotonic()
    while (state := ready(server)) != (200, "ok"):
        assert time.monotonic() < began + 20, state
        time.sleep(0.05)
    took_s = time.monotonic() - began
    time.sleep(AWAY_S)
    return took_s


def create(client: Client, user: str) -> int:
    body = {"external_user_id": user}
    return requests.post(f"{client.project}/tokens", json=body, headers=client.headers, timeout=20).status_code


def test_two_processes_let_exactly_as_many_pass_and_do_as_was_chosen_while_it_is_away(
    server: Running, redis: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    closed = server.shell.env["PATCHBAY_LIMITS_AWAY"] == "closed"
    client = client_of(server)
    with ThreadPoolExecutor(16) as pool:
        answers = Counter(pool.map(lambda _: create(client, "ada"), range(LIMIT + 100)))
        assert answers == {200: LIMIT, 429: 100}
        assert ready(server) == (200, "ok")
        redis.kill()
        began = time.monotonic()
        away = Counter(pool.map(lambda number: create(client, f"ben {number}"), range(50)))
        took_s = time.monotonic() - began
    assert away == ({503: 50} if closed else {200: 50})
    code, standing = ready(server)
    assert (code, standing) == (
        (503, "Calls cannot be counted right now, so none is let pass; try again in a moment.")
        if closed
        else (200, "counted in each process")
    )
    redis.start()
    back_s = counted_again(server)
    with capsys.disabled():
        print(f"\n{'closed' if closed else 'open'}: 50 calls without it in {took_s:.1f} s; "
              f"ready {back_s:.1f} s after it was back", file=sys.stderr)  # fmt: skip
    with ThreadPoolExecutor(16) as pool:
        answers = Counter(pool.map(lambda _: create(client, "eve"), range(LIMIT + 50)))
    assert answers == {200: LIMIT, 429: 50}


def test_the_service_starts_while_it_is_away(server: Running, redis: Redis) -> None:
    redis.kill()
    server.kill()
    server.start()
    closed = server.shell.env["PATCHBAY_LIMITS_AWAY"] == "closed"
    assert ready(server)[0] == (503 if closed else 200)
    redis.start()
    counted_again(server)
    assert create(client_of(server), "ada") == 200
