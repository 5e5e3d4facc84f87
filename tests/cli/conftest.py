"""The real command in a process of its own, over a data folder and ports of its own."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import Commands
from tests.fakes.ports import free_port
from tests.fakes.served import START_S
from tests.once.catalog import linked

ROOT = Path(__file__).parent.parent.parent
COMMAND = [sys.executable, "-m", "webapp.cli.main"]


@dataclass
class Shell:
    """Runs ``patchbay`` commands in one environment."""

    env: Mapping[str, str]

    def run(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *words], env=self.env, cwd=ROOT, capture_output=True, text=True, timeout=60, **options
        )

    def json(self, *words: str) -> dict[str, Any]:
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def refused(self, *words: str, **options: Any) -> str:
        """The one sentence with which a command refuses."""
        done = self.run(*words, **options)
        assert done.returncode != 0
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        return done.stderr.strip().splitlines()[-1]


def shell_over(data: Path, **env: str) -> Shell:
    """``patchbay`` over ``data``, deaf to the settings of the person who runs the tests."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
    return Shell({**inherited, "PATCHBAY_DATA": str(data), "PATCHBAY_PORT": str(free_port()), **env})


@dataclass
class Server:
    """A running ``patchbay serve``."""

    process: subprocess.Popen[str]
    port: int
    line: str = ""
    _errors: Path = field(default_factory=Path)

    def children(self) -> list[int]:
        pid = self.process.pid
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def errors(self) -> str:
        return self._errors.read_text()

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(15)


@pytest.fixture
def data(tmp_path: Path, built_catalog: Path) -> Path:
    """A data folder that holds nothing but the catalog."""
    folder = tmp_path / "data"
    folder.mkdir()
    linked(built_catalog, folder)
    return folder


@pytest.fixture
def shell(data: Path) -> Shell:
    """``patchbay`` over :func:`data`."""
    return shell_over(data)


@pytest.fixture
def patchbay(data: Path) -> Commands:
    """``patchbay`` over :func:`data` in this process, for tests of what commands do rather than of how they start."""
    inherited: dict[str, str | None] = {name: None for name in os.environ if name.startswith("PATCHBAY_")}
    return Commands({**inherited, "PATCHBAY_DATA": str(data), "PATCHBAY_PORT": str(free_port())})


@pytest.fixture
def start(shell: Shell, tmp_path: Path) -> Iterator[Callable[[], Server]]:
    """Starts ``patchbay serve`` and waits for its line; whatever still runs at the end is killed."""
    running: list[subprocess.Popen[str]] = []

    def begin() -> Server:
        log = tmp_path / f"serve-{len(running)}.log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                [*COMMAND, "serve"], env=shell.env, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        running.append(process)
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], START_S)[0], log.read_text()
        line = process.stdout.readline()
        assert line, log.read_text()
        return Server(process, int(shell.env["PATCHBAY_PORT"]), line, log)

    yield begin
    for process in running:
        with process:
            process.kill()


@pytest.fixture
def eventually() -> Callable[[Callable[[], Any]], Any]:
    """Asks until the answer is true, for at most ten seconds."""

    def wait(question: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 10
        while not (answer := question()):
            assert time.monotonic() < deadline, "it never came true"
            time.sleep(0.05)
        return answer

    return wait
