"""``patchbay move`` as an operator meets it, killed too."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import COMMAND, ROOT
from tests.cli.in_process import Commands
from tests.once import postgres as databases
from tests.store import lists
from webapp.store.sqlite import SQLiteStore


@pytest.fixture
def url() -> Iterator[str]:
    """The address of an empty database without a schema."""
    name = databases.new("template0")
    yield databases.url(name)
    databases.drop(name)


@pytest.fixture
def embedded(data: Path) -> Path:
    """A data folder with a database that holds a row."""
    with closing(SQLiteStore(data / "patchbay.db")) as store:
        store.migrate()
        with store.write() as tx:
            tx.run("INSERT INTO page_changes (name, n, at) VALUES ('look', 1, 1)")
    return data


def test_it_says_what_it_wants(patchbay: Commands) -> None:
    assert "Say where to move to" in patchbay.refused("move")
    assert "Say where to move to" in patchbay.refused("move", "--back", "--to", "/tmp")
    assert "is in use already" in patchbay.refused("move", "--back")


def test_it_says_what_comes_next(patchbay: Commands, embedded: Path, url: str, tmp_path: Path) -> None:
    done = patchbay.run("move", "--to", url)
    assert done.exit_code == 0 and "Set PATCHBAY_DATABASE_URL to the new database" in done.stdout
    assert f"The key stays in {embedded / 'keys'}." in done.stdout
    assert "password" not in done.stdout and "start nothing on it" in done.stdout
    patchbay.env["PATCHBAY_DATABASE_URL"] = url
    done = patchbay.run("move", "--to", str(tmp_path / "new"))
    assert f"Set PATCHBAY_DATA to {tmp_path / 'new'}" in done.stdout
    assert f"Copy {embedded / 'keys'} there yourself" in done.stdout
    assert "can be moved aside" in patchbay.refused("move", "--back")
    (embedded / "patchbay.db").rename(tmp_path / "aside.db")
    patchbay.env["PATCHBAY_SECRET_KEY"] = "oH3nW8bE5tK1qV6xC9zM2rY7jL4fP0sGuD"
    done = patchbay.run("move", "--back")
    assert "Unset PATCHBAY_DATABASE_URL and start Patchbay. PATCHBAY_SECRET_KEY stays what it is." in done.stdout


@pytest.mark.faults  # a whole installation, and processes to kill
def test_killed_twice_it_continues_and_the_installation_opens_with_its_key(shell: Any, data: Path, url: str) -> None:
    ready = shell.json("init")
    count = 6_000
    with closing(lists.filled(data / "patchbay.db", count)):
        pass
    for table in ("accounts", "runs"):
        _kill_at(table, shell, url)
        serving = {**shell.env, "PATCHBAY_DATABASE_URL": url}
        done = subprocess.run([*COMMAND, "init"], env=serving, cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert "A move into this database is not finished" in done.stderr
    result = shell.json("move", "--to", url)
    assert result["rows"] > 6 * count and re.fullmatch("[0-9a-f]{64}", result["sha256"])
    shell.env = {**shell.env, "PATCHBAY_DATABASE_URL": url}
    assert shell.json("init")["client_secret"] == ready["client_secret"]


def _kill_at(table: str, shell: Any, url: str) -> None:
    words = [*COMMAND, "move", "--to", url]
    with subprocess.Popen(words, env=shell.env, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(f"{table}: "):
                os.kill(process.pid, signal.SIGKILL)
                break
