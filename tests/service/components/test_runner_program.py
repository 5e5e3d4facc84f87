"""The program that a runner is: started with nothing of ours in its environment, and found by the modules' own path."""

import subprocess
from pathlib import Path

import pytest

from webapp.service.components.runner_program import SOCKET, command


def test_it_gets_no_setting_and_keeps_what_certificates_and_times_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"PATH": "/usr/bin", "TZ": "Europe/Oslo", "SSL_CERT_FILE": "/etc/ca.pem"}
    for name, value in {**kept, "PATCHBAY_SECRET_KEY": "k" * 32, "AWS_SECRET_ACCESS_KEY": "s"}.items():
        monkeypatch.setenv(name, value)
    environment = command(tmp_path / SOCKET, 0)[1]
    assert kept.items() <= environment.items()
    assert not {"PATCHBAY_SECRET_KEY", "AWS_SECRET_ACCESS_KEY"} & environment.keys()


def test_it_ends_when_its_lifeline_closes(tmp_path: Path) -> None:
    arguments, environment = command(tmp_path / SOCKET, 0)
    with subprocess.Popen(arguments, env=environment, stdin=subprocess.PIPE, cwd="/") as runner:
        assert runner.stdin is not None
        runner.stdin.close()
        assert runner.wait(30) == 0
