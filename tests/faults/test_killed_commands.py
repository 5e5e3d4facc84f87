"""Fault 8: a rotation of the keys, and a backup, are killed in their middle while the service runs. Afterwards
everything opens, no backup is half a backup, and nothing is left lying about. An integration that was
being brought is gone on with by the next process.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, ROOT, Shell
from tests.fakes.npm_registry import NpmRegistry, registry
from tests.fakes.receiver import Receiver
from tests.faults.running import Running, client_of, until_more
from tests.faults.test_kill_server import calling
from tests.faults.world import World
from tests.service.domain.pieces.tried import NAME, describe, package_of
from webapp.kit import scratch
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import takeover
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.pieces import disk, installation, pieces
from webapp.service.pieces import npm
from webapp.service.pieces.packages import Places
from webapp.settings import Settings
from webapp.store.stores import open_store

BACKUPS = 10
KILLS = int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6")

pytestmark = pytest.mark.faults


def killed(world: World, chance: random.Random, longest_s: float, *words: str) -> bool:
    """Run a command and kill it at a random moment; whether it had not ended by itself before."""
    env = dict(world.server.shell.env)
    with subprocess.Popen([*COMMAND, *words], env=env, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        try:
            process.wait(chance.uniform(longest_s / 4, longest_s))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
    return process.returncode == -signal.SIGKILL


def how_long_s(world: World, *words: str) -> float:
    """How long a command takes that is left alone."""
    began = time.monotonic()
    done = world.server.shell.run(*words)
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began


def test_a_rotation_that_is_killed(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    account, chance = world.connect(), random.Random(8)
    whole_s = how_long_s(world, "keys", "rotate")
    count = sum(killed(world, chance, whole_s, "keys", "rotate") for _ in range(KILLS))
    opened = world.ask("GET", f"/accounts/{account}?include_credentials=true")
    assert opened.ok, "it opens half-way, too"
    assert world.server.shell.run("keys", "rotate").returncode == 0
    world.server.kill()
    world.server.start()
    assert world.ask("GET", f"/accounts/{account}?include_credentials=true").ok
    assert world.server.shell.run("check").returncode == 0
    with capsys.disabled():
        print(f"\n{count} of {KILLS} rotations were killed in their middle; what was sealed opens", file=sys.stderr)


@pytest.mark.embedded
def test_a_backup_that_is_killed(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, chance = tmp_path / "backups", random.Random(9)
    folder.mkdir()
    whole_s = how_long_s(world, "backup", str(folder / "whole.zip"))
    names = [folder / f"{number}.zip" for number in range(KILLS)]
    count = sum(killed(world, chance, whole_s, "backup", str(name)) for name in names)
    how_long_s(world, "backup", str(folder / "last.zip"))
    made = sorted(path.name for path in folder.iterdir() if path.is_file())
    unmarked = [path for path in folder.iterdir() if path.is_dir()]  # killed before it could say whose it is: waits
    assert [path for path in unmarked if any(path.iterdir())] == []
    for name in made:
        with zipfile.ZipFile(folder / name) as archive:
            assert archive.testzip() is None
    with capsys.disabled():
        print(
            f"\n{count} of {KILLS} backups were killed in their middle; left are {made}, each of them whole",
            file=sys.stderr,
        )
    assert {"whole.zip", "last.zip"} <= set(made) <= {"whole.zip", "last.zip", *(name.name for name in names)}


@pytest.mark.embedded
def test_ten_backups_under_load_can_be_restored(
    server: Running, receiver: Receiver, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has every event that was accepted before it began."""
    url = client_of(server).deploy("http-new-requests", receiver.url("/hook"))["endpoint_url"]
    accepted = list[int]()
    with calling(url) as callers:
        for number in range(BACKUPS):
            until_more(lambda: len(callers.accepted), 50 * (number + 1), server.last_words)
            accepted.append(len(callers.accepted))
            assert server.shell.run("backup", str(tmp_path / f"{number}.zip")).returncode == 0
    restored = list[int]()
    for number in range(BACKUPS):
        data = tmp_path / f"restored-{number}"
        shell = replace(server.shell, env={**server.shell.env, "PATCHBAY_DATA": str(data)})
        data.mkdir()
        shutil.copy(server.data / "keys", data / "keys")  # which no backup has
        assert shell.run("restore", str(tmp_path / f"{number}.zip")).returncode == 0
        with closing(open_store(Settings.from_env({**shell.env}))) as store:
            assert store.faults() == []
            restored.append(store.tuples("SELECT COUNT(*) FROM events")[0][0])
    with capsys.disabled():
        print(f"\n{BACKUPS} backups: accepted before each {accepted}, restored {restored}", file=sys.stderr)
    assert all(there >= before for there, before in zip(restored, accepted, strict=True))


@pytest.fixture
def served() -> Iterator[NpmRegistry]:
    if npm.command() is None:
        pytest.skip("there is no npm on this machine")
    with registry() as opened:
        opened.publish(package_of("1.0.0"))
        yield opened


@pytest.fixture
def env(shell: Shell, served: NpmRegistry) -> dict[str, str]:
    return {**shell.env, "PATCHBAY_PIECE_REGISTRY": served.url}


@pytest.fixture
def service(env: dict[str, str]) -> Iterator[Service]:
    opened = open_service(Settings.from_env(env))
    yield opened
    close_service(opened)


def test_an_integration_whose_process_is_killed_is_gone_on_with(
    service: Service, env: dict[str, str], served: NpmRegistry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    describe(monkeypatch)
    served.stalls = True
    log = tmp_path / "log.txt"
    with (
        log.open("w") as output,
        subprocess.Popen([*COMMAND, "piece", "add", NAME], env=env, cwd=ROOT, stdout=output, stderr=output) as process,
    ):
        ends = time.monotonic() + 60
        while not served.asked and process.poll() is None and time.monotonic() < ends:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert served.asked, log.read_text()
    places = Places(service.settings.data)
    ends = time.monotonic() + 5
    while (left := working_below(places.root)) and time.monotonic() < ends:
        time.sleep(0.05)
    assert left == [], "npm ends with whoever called it"
    (piece,) = pieces.all_of(service.store)
    assert piece.holder
    served.stalls = False
    assert pieces.claim(service) is None
    ends = time.monotonic() + 30  # where machines share a database, a heartbeat tells
    while takeover.take_over(service) == 0:
        assert time.monotonic() < ends
        time.sleep(0.2)
    assert installation.work(service)
    assert pieces.get(service.store, piece.id).state == "ready"
    monkeypatch.setattr(scratch, "YOUNG_S", 0.0)
    disk.sync(service)
    assert not [path.name for path in places.root.iterdir() if path.name.startswith((".looking-", ".bringing-"))]


def working_below(folder: Path) -> list[str]:
    """The processes that work in ``folder``, or below it."""
    here = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                here.append(process.name)
    return here
