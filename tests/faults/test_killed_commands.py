"""Fault 8: a rotation of the keys, and a backup, are killed in their middle while the service runs. Afterwards
everything opens, no backup is half a backup, and nothing is left lying about.
"""

import os
import random
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, ROOT
from tests.faults.world import World

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
        print(f"\n{count} of {KILLS} rotations were killed in their middle; what was sealed opens")


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
        print(f"\n{count} of {KILLS} backups were killed in their middle; left are {made}, each of them whole")
    assert {"whole.zip", "last.zip"} <= set(made) <= {"whole.zip", "last.zip", *(name.name for name in names)}
