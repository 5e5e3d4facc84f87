"""The worker's thread for integrations."""

from pathlib import Path
from typing import Any

import pytest

from tests.service.domain.pieces.tried import NAME, describe, tarball
from webapp.errors import Unavailable
from webapp.service.components.pieces import node
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import disk, owner_decisions, pieces, updates
from webapp.service.domain.pieces.owner_decisions import Source
from webapp.service.worker import piece_engine
from webapp.service.worker.piece_engine import PieceEngine


def test_a_turn_does_what_waits(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    describe(monkeypatch)
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "20.0.0"))
    engine = PieceEngine(service)
    assert engine.turn() == piece_engine.EVERY_S
    piece = owner_decisions.begin(service, NAME, source=Source("tarball", tarball(tmp_path)))
    engine.turn()
    assert pieces.get(service.store, piece.id).state == "ready"
    monkeypatch.setattr(updates, "of_authors", lambda *_: {"x": tmp_path})
    assert engine.turn() == piece_engine.AUTHORS_EVERY_S


def test_what_could_not_be_added_is_a_line_of_the_log(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    describe(monkeypatch, error="The package is too old.")
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "20.0.0"))
    owner_decisions.begin(service, NAME, source=Source("tarball", tarball(tmp_path)))
    with caplog.at_level("INFO"):
        PieceEngine(service).turn()
    (line,) = [each.getMessage() for each in caplog.records if "could not be added" in each.getMessage()]
    assert line.endswith(f"{NAME} 1.0.0 cannot be used here. The package is too old.")


def test_it_looks_thoroughly_once_and_after_trouble_waits(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bool] = []

    def sync(_: Service, *, thoroughly: bool) -> list[Any]:
        looks.append(thoroughly)
        return [] if len(looks) < 2 else [disk.Finding(pieces.Piece(*["x"] * 21), "1", "Away.")]  # type: ignore[arg-type]

    monkeypatch.setattr(disk, "sync", sync)
    engine = PieceEngine(service)
    for _ in range(4):
        engine.turn()
    assert looks == [True, False]


def test_it_works_until_it_is_stopped(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[object] = []

    def turn(self: PieceEngine) -> float:
        turns.append(self)
        if len(turns) == 1:
            raise Unavailable
        raise RuntimeError("oops")

    monkeypatch.setattr(PieceEngine, "turn", turn)
    monkeypatch.setattr(piece_engine, "AT_MOST_EVERY_S", 0.01)
    monkeypatch.setattr(piece_engine, "EVERY_S", 0.02)
    engine = PieceEngine(service)
    engine.start()
    engine.wake()
    while len(turns) < 2:
        pass
    engine.stop(1)
    assert not engine._thread.is_alive()
