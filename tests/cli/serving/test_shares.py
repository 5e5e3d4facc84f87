"""Whoever has more connections than another lets that one go first."""

import pytest

from webapp.cli.serving import shares


@pytest.mark.parametrize(("counts", "gives_way"), [((0, 0), False), ((1, 0), True), ((0, 1), False), ((2, 2), False)])
def test_who_gives_way(monkeypatch: pytest.MonkeyPatch, counts: tuple[int, int], gives_way: bool) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("webapp.cli.serving.shares.time.sleep", pauses.append)
    mine, other = shares.shares(2)
    mine.hold(counts[0])
    other.hold(counts[1])
    mine.give_way()
    assert bool(pauses) is gives_way


def test_a_process_alone_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.cli.serving.shares.time.sleep", pytest.fail)
    (alone,) = shares.shares(1)
    alone.hold(1_000)
    alone.give_way()
