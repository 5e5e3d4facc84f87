"""A round of replacing: one after another, each once the fresh one is ready; where none is, the old ones go on."""

import logging
import os
import time

import pytest

from webapp.cli.serving import replacement
from webapp.cli.serving.children import Child
from webapp.cli.serving.replacement import Replacement
from webapp.cli.serving.stopping import LEAVE


class Signals(list[tuple[int, int]]):
    """What was sent to whom."""


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> Signals:
    sent = Signals()
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    return sent


@pytest.fixture
def children() -> list[Child]:
    named = [Child(name, lambda stop: None, answers=name.startswith("web")) for name in ("runner", "web-1", "web-2")]
    for number, child in enumerate(named, start=1):
        start(child, number)
    return named


def start(child: Child, pid: int = 99) -> None:
    child.pid, child.born_at = pid, time.monotonic()


def test_each_is_dismissed_once_its_successor_is_ready(children: list[Child], signals: Signals) -> None:
    runner, first, second = children
    turns = Replacement(children, start)
    assert not turns.turn() and signals == []
    fresh = children[1]
    assert (fresh.name, fresh.pid, len(children)) == ("web-1", 99, 4)
    assert not turns.turn() and signals == []
    fresh.ready = True
    assert not turns.turn()
    assert signals == [(first.pid, LEAVE)] and first.leaving is not None
    next(child for child in children if child.pid == 99 and not child.ready).ready = True
    assert not turns.turn(), "it waits for those that leave"
    assert signals == [(first.pid, LEAVE), (second.pid, LEAVE)] and runner.leaving is None
    children.remove(first)
    children.remove(second)
    assert turns.turn()


def test_a_fresh_one_that_dies_leaves_the_old_ones_alone(
    children: list[Child], signals: Signals, caplog: pytest.LogCaptureFixture
) -> None:
    turns = Replacement(children, start)
    turns.turn()
    assert not turns.failed(children[0])
    with caplog.at_level(logging.ERROR):
        assert turns.failed(children[1])
    assert caplog.messages == ["The new web-1 process did not become ready; the old ones go on."]
    children.pop(1)
    assert turns.turn() and signals == []


def test_a_fresh_one_that_hangs_is_killed(
    children: list[Child], signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacement, "READY_S", 0.0)
    turns = Replacement(children, start)
    turns.turn()
    turns.turn()
    assert signals == [(99, 9)]


def test_one_that_does_not_leave_is_killed(
    children: list[Child], signals: Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacement, "LEAVING_S", -1.0)
    turns = Replacement(children, start)
    turns.turn()
    children[1].ready = True
    turns.turn()
    assert (2, 9) in signals
