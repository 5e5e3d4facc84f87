"""Processes of Node without a fence of our own: a program for tests that runs what each call tells it to."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.service.components.pieces.playing import Carried
from webapp.service.components.calls import Call, PieceBounds, Reply
from webapp.service.components.pieces import node, node_process
from webapp.service.components.pieces.channels import Reach
from webapp.service.components.pieces.conversation import Conversation, Request
from webapp.service.components.reply_builder import ReplyBuilder
from webapp.service.components.runner import Runner

Ask = Callable[..., Reply]
PROGRAM = Path(__file__).parents[3] / "fakes" / "host.cjs"
BOUNDS = PieceBounds(processes=3, memory_mb=64, idle_s=30)


@pytest.fixture(scope="session")
def node_runner() -> Iterator[Runner]:
    """A runner for processes of Node."""
    if node.find() is None and "CI" not in os.environ:
        pytest.skip(node.MISSING)
    with Runner.start() as runner:
        yield runner


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Where a package is installed."""
    folder = tmp_path / "packages" / "piece-a" / "1.0.0"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def ask(node_runner: Runner, package: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Runs code in a process of the package, for a user."""
    return asking(node_runner, package, monkeypatch)


def asking(runner: Runner, package: Path, monkeypatch: pytest.MonkeyPatch, bounds: PieceBounds = BOUNDS) -> Ask:
    """What runs code in a process of ``package``."""
    monkeypatch.setattr(node_process, "PROGRAM", PROGRAM)

    def run(code: str, user: str = "u", deadline_s: float = 10.0, reach: Reach = Reach(), mask: str = "") -> Reply:  # noqa: B008
        call = Call(path="", deadline_s=deadline_s, mask=(mask,))
        request = Request(package, "a", {"code": code}, reach, user, deadline_s)
        return Conversation(request, ReplyBuilder(call), runner.line, bounds).hold()

    return run


@pytest.fixture
def carried() -> Iterator[Carried]:
    call = Carried(Reach(("*.acme.example",)))
    yield call
    call.close()
