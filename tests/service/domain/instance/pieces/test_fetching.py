"""What was brought by one machine is brought to another that has to write it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.service.domain.instance.pieces.test_steps import begin, written
from tests.service.domain.instance.pieces.tried import describe
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import adding, fetching, rows, steps


def test_another_machine_writes_what_one_has_brought(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    piece = begin(service, tmp_path)
    assert steps.work(service)
    adding.confirm(service, piece.id, [])
    (tmp_path / "data-2").mkdir()
    other = replace(service, settings=replace(service.settings, data=tmp_path / "data-2"))
    assert steps.work(other)
    assert rows.get(service.store, piece.id).state == "added"
    assert written(other) == ["1.0.0.json"]


def test_who_brings_stops_when_somebody_asks_or_the_row_is_gone(service: Service, tmp_path: Path) -> None:
    begin(service, tmp_path)
    piece = rows.claim(service)
    assert piece is not None
    brings = fetching.bringer(service, piece)
    assert not brings.stopped()
    adding.stop(service, piece.id)
    assert brings.stopped()
    with service.store.write() as tx:
        rows.delete(tx, piece)
    assert brings.stopped()
    assert not fetching.bringer(service).stopped()
