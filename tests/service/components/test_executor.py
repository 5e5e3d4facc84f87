"""Each kind of component goes where it runs."""

from pathlib import Path

import pytest

from tests.service.components.pieces import samples
from webapp.kit.cancellation import Cancellation, cancelling
from webapp.service.components.calls import Call, Reply
from webapp.service.components.executor import CANCELLED, Executor
from webapp.service.components.pieces import node
from webapp.service.components.pieces.package_calls import PackageCall
from webapp.service.components.runner import Runner


class Asked(Runner):
    """A runner that only remembers."""

    def __init__(self) -> None:
        super().__init__(None)
        self.paths: list[str] = []

    def call(self, call: Call) -> Reply:
        self.paths.append(call.path)
        return Reply("code")


def test_code_goes_to_the_runner_and_data_does_not(tmp_path: Path) -> None:
    runner = Asked()
    with Executor(runner) as executor:
        assert executor.call(Call(str(tmp_path / "1.0.0.py"))).value == "code"
        reply = executor.call(Call(str(tmp_path / "a.toml")))
    assert reply.error is not None
    assert reply.error.kind == "load"
    assert runner.paths == [str(tmp_path / "1.0.0.py")]


def test_a_piece_goes_to_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "find", lambda: None)
    with Executor(Asked()) as executor:
        replies = [
            executor.call(Call(str(samples.write(tmp_path)))),
            executor.ask_package(PackageCall(tmp_path, "@acme/piece-acme", "describe")),
        ]
    assert [reply.error and reply.error.message for reply in replies] == [node.MISSING] * 2


def test_what_failed_because_it_was_stopped_says_so(tmp_path: Path) -> None:
    work = Cancellation()
    work.request()
    with cancelling(work), Executor(Asked()) as executor:
        reply = executor.call(Call(str(tmp_path / "a.toml")))
    assert reply.error is not None and reply.error.message == CANCELLED
