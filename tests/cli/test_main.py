"""The list of commands costs next to nothing, and says of each command what the table says."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import click
import pytest
from click.testing import CliRunner

from webapp.cli.main import PARTS, main

HELP = """
import sys
from webapp.cli.main import main
for command in ([], ["project"], ["migrate"]):
    main([*command, "--help"], standalone_mode=False)
    print("loaded", *sys.modules)
"""


def test_help_does_not_wait_for_what_only_some_commands_need() -> None:
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True, timeout=60)
    of_all, *of_commands = (set(line.split()) for line in done.stdout.splitlines() if line.startswith("loaded "))
    ours = {name for name in of_all if name.partition(".")[0] == "webapp"}
    assert ours == {"webapp", "webapp.cli", "webapp.cli.main"}
    assert len(of_commands) == 2
    for modules in (of_all, *of_commands):  # each after those before it
        assert not {"structlog", "flask", "waitress", "authlib.jose"} & modules


def test_help_lists_every_command_in_one_line() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    lines = shown.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines] == list(PARTS)
    assert all(line.endswith(PARTS[line.split()[0]].summary) for line in lines)


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_the_command_of_its_name(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None and command.name == name and command.help


def test_what_is_no_command_is_said() -> None:
    done = CliRunner().invoke(main, ["nothing"])
    assert done.exit_code == 2 and "No such command 'nothing'" in done.output


def test_every_command_says_what_it_does(shell: Any) -> None:
    shown = shell.run("--help").stdout
    for name in ("serve", "web", "worker", "runner", "init", "migrate", "project", "client", "user", "oauth-app", 
                 "catalog", "keys", "backup", "restore", "check"):  # fmt: skip
        assert f"\n  {name} " in shown


def test_bad_input_is_one_sentence_and_an_exit_code(shell: Any) -> None:
    assert shell.refused("fly") == "Error: No such command 'fly'."


def test_a_command_that_is_ended_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def slow() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(main, "get_command", lambda *_: slow)
    done = CliRunner().invoke(main, ["migrate"])
    assert done.exit_code == 130 and "Error: Stopped before it was done." in done.output
    assert signal.getsignal(signal.SIGTERM) is before
