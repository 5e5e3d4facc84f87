"""Calling npm: nothing of ours goes along, and it ends in time with all that it started."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from webapp.service.components.pieces import node
from webapp.service.pieces import npm
from webapp.service.pieces.npm import Answer


def call(program: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch, **options: object) -> Answer:
    monkeypatch.setattr(npm, "command", lambda: [sys.executable, "-c", *program])
    return npm.call([], folder, registry=None, deadline_s=5, **options)  # type: ignore[arg-type]


def test_no_setting_and_no_secret_goes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHBAY_SECRET_KEY", "canary")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    answer = call(["import os, sys; print(dict(os.environ), sys.argv)"], tmp_path, monkeypatch)
    assert answer.ok
    assert "canary" not in answer.out
    assert "--ignore-scripts" in answer.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("own", "expected"), [(None, "/etc/company.pem"), ("/etc/npm.pem", "/etc/npm.pem")])
def test_whom_the_operator_trusts_npm_trusts_too(
    own: str | None, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/company.pem")
    monkeypatch.delenv("NODE_EXTRA_CA_CERTS", raising=False)
    if own:
        monkeypatch.setenv("NODE_EXTRA_CA_CERTS", own)
    answer = call(["import os; print(os.environ['NODE_EXTRA_CA_CERTS'])"], tmp_path, monkeypatch)
    assert answer.out == f"{expected}\n"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import time; time.sleep(60)", "it did not end in time"),
        ("print('x' * 5000000); print('y' * 5000000); import time; time.sleep(60)", "it printed too much"),
    ],
)
def test_it_is_ended(program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm, "call", npm.call)
    began = time.monotonic()
    monkeypatch.setattr(npm, "command", lambda: [sys.executable, "-c", program])
    answer = npm.call([], tmp_path, registry=None, deadline_s=0.3 if "time" in reason else 5)
    assert (answer.ok, answer.reason) == (False, reason)
    assert time.monotonic() - began < 4


def test_whoever_asked_can_stop_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = call(["import time; time.sleep(60)"], tmp_path, monkeypatch, stopped=lambda: "it was stopped")
    assert (answer.ok, answer.reason) == (False, "it was stopped")


def test_what_npm_says_of_an_error_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "npm error code E404\nnpm error 404 Not Found - GET http://x/y\nnpm error A complete log of this run"
    answer = call([f"import sys; sys.exit({text!r})"], tmp_path, monkeypatch)
    assert (answer.ok, answer.reason) == (False, "404 Not Found - GET http://x/y")


def test_a_machine_without_node_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "find", lambda: None)
    assert npm.command() is None
    assert npm.call(["view"], tmp_path, registry=None, deadline_s=1).reason == node.MISSING.rstrip(".")
