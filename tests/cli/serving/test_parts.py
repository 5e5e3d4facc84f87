"""The parts of the service alone: each refuses in a sentence what cannot work, and a runner is there for the others."""

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import COMMAND, ROOT, Shell
from tests.cli.in_process import Commands
from webapp.service.components.calls import Call
from webapp.service.components.runner import Runner
from webapp.service.components.wire import SOCKET
from webapp.store import presence


def test_a_second_web_or_worker_on_an_embedded_folder_refuses(shell: Shell, data: Path) -> None:
    places = presence.WebPlace(data / "patchbay.db"), presence.WorkersPlace(data / "patchbay.db")
    assert shell.refused("web") == (
        f"Error: Patchbay already answers from {data} (process {os.getpid()}); stop it first. For several web "
        "processes set PATCHBAY_WEB."
    )
    assert shell.refused("worker").startswith(f"Error: Patchbay already runs on {data} (process {os.getpid()})")
    for place in places:
        place.leave()


@pytest.mark.parametrize(
    ("mode", "folder", "sentence"),
    [
        (None, "", "Set PATCHBAY_RUNNER to a folder for the runner's socket"),
        (0o755, "open", "with mode 700: whoever enters it runs code."),
        (None, "l" * 100, "PATCHBAY_RUNNER is too long for a socket"),
    ],
    ids=["no folder", "open to others", "too long"],
)
def test_a_runner_that_cannot_listen_says_so(
    patchbay: Commands, tmp_path: Path, mode: int | None, folder: str, sentence: str
) -> None:
    path = tmp_path / folder if folder else None
    if path and mode:
        path.mkdir(mode=mode)
    env = {**patchbay.env, "PATCHBAY_RUNNER": str(path or "")}
    assert sentence in replace(patchbay, env=env).refused("runner")


@pytest.mark.faults
def test_a_runner_alone_answers_and_there_is_one_in_a_folder(
    shell: Shell, tmp_path: Path, eventually: Callable[[Callable[[], Any]], Any]
) -> None:
    folder = tmp_path / "r"
    shell = replace(shell, env={**shell.env, "PATCHBAY_RUNNER": str(folder)})
    component = tmp_path / "echo.py"
    component.write_text(
        "from webapp.service.components.authoring import Action\n"
        "class Echo(Action):\n    def run(self, ctx): return ctx.props.n\n"
    )
    with subprocess.Popen([*COMMAND, "runner"], env=shell.env, cwd=ROOT) as process:
        eventually((folder / SOCKET).exists)
        assert Runner.connect(folder / SOCKET).call(Call(path=str(component), props={"n": 1})).value == 1
        assert shell.refused("runner") == f"Error: A runner already listens in {folder}; stop it first."
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    assert not (folder / SOCKET).exists()
