"""What the worker does: found, brought, tried, written; stopped at any step, and taken over from who died.

What was brought by one machine is brought to another that has to write it.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.npm_registry import package
from tests.service.domain.pieces.tried import NAME, describe, tarball
from webapp.errors import NotFound, Unavailable
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import installation, listing, owner_decisions, pieces, trial, uses
from webapp.service.domain.pieces.owner_decisions import Source
from webapp.service.domain.pieces.pieces import Piece
from webapp.service.pieces import installer, packages
from webapp.service.pieces.packages import Places
from webapp.service.pieces.registry import Registry, Release


def begin(service: Service, folder: Path, version: str = "1.0.0") -> Piece:
    return owner_decisions.begin(service, NAME, source=Source("tarball", tarball(folder, version)))


def add(service: Service, folder: Path, version: str = "1.0.0") -> Piece:
    piece = begin(service, folder, version)
    assert installation.work(service)
    owner_decisions.confirm(service, piece.id, ["api.kiosk.io"], shown=True)
    assert installation.work(service)
    return pieces.get(service.store, piece.id)


def written(service: Service) -> list[str]:
    return sorted(path.name for path in (service.settings.data / "pieces" / "apps").glob("*/actions/*/*.json"))


def test_it_is_brought_tried_and_written_once_its_owner_agrees(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = describe(monkeypatch)
    piece = begin(service, tmp_path)
    assert installation.work(service)
    view = listing.find(service, piece.id)
    assert (view.piece.state, view.piece.step, view.piece.title, view.piece.holder) == ("ready", 3, "Kiosk", 0)
    assert (view.offered.app, view.offered.hosts) == ("kiosk", ("api.kiosk.io",))
    assert [(part.name, part.key) for part in view.offered.actions] == [("Sell", "kiosk-sell")]
    assert (asked[0].method, asked[0].hosts, asked[0].user) == ("describe", (), "")
    assert written(service) == []
    owner_decisions.confirm(service, piece.id, view.offered.hosts)
    assert installation.work(service)
    view = listing.find(service, piece.id)
    assert (view.piece.state, view.piece.version, view.piece.hidden) == ("added", "1.0.0", True)
    assert written(service) == ["1.0.0.json"]
    assert not installation.work(service)


def test_who_reads_that_it_is_added_finds_it_in_the_catalog(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    piece, states = begin(service, tmp_path), list[str]()
    assert installation.work(service)
    owner_decisions.confirm(service, piece.id, ["api.kiosk.io"])

    def build(_: Service) -> None:
        states.append(pieces.get(service.store, piece.id).state)

    monkeypatch.setattr(catalog_file, "update", build)
    assert installation.work(service)
    assert states[0] == "writing" and pieces.get(service.store, piece.id).state == "added"


def test_a_later_version_takes_its_place_and_what_is_pinned_stays(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    add(service, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(uses, "pinned", lambda *_: {"1.0.0"})
        piece = add(service, tmp_path, "1.1.0")
    assert written(service) == ["1.0.0.json", "1.1.0.json"]
    assert installation.prune(service, piece) == ["1.0.0"]
    assert written(service) == ["1.1.0.json"]
    assert not Places(service.settings.data).package(piece.folder, "1.0.0").exists()
    assert [each.version for each in pieces.versions(service.store, piece.id)] == ["1.1.0"]


def test_a_version_in_use_stays_as_it_was_confirmed(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    piece = add(service, tmp_path)
    place = Places(service.settings.data).package(piece.folder, "1.0.0") / packages.MODULES
    confirmed = packages.digest(place)
    source = tarball(tmp_path)
    source.write_bytes(package(NAME, "1.0.0", files={"index.js": "evil()"}))
    owner_decisions.begin(service, NAME, source=Source("tarball", source))
    assert installation.work(service)
    failed = pieces.get(service.store, piece.id)
    assert (failed.state, failed.version) == ("failed", "1.0.0")
    assert "is in use here with other files" in failed.error
    assert packages.digest(place) == confirmed


def test_what_cannot_be_used_says_why(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    describe(monkeypatch, error="It is built for a framework before 0.20.")
    piece = begin(service, tmp_path)
    installation.work(service)
    view = listing.find(service, piece.id)
    assert (view.piece.state, view.piece.error) == (
        "failed", f"{NAME} 1.0.0 cannot be used here. It is built for a framework before 0.20.",
    )  # fmt: skip
    owner_decisions.stop(service, piece.id)
    assert listing.listed(service) == []
    assert not Places(service.settings.data).package(piece.folder, "1.0.0").exists()


def test_a_bug_is_reported_as_one_and_a_busy_store_leaves_it_to_the_next(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(error: Exception) -> Any:
        def step(*_: object) -> None:
            raise error

        return step

    piece = begin(service, tmp_path)
    monkeypatch.setattr(installation, "_brought", raises(Unavailable()))
    with pytest.raises(Unavailable):
        installation.work(service)
    assert (pieces.get(service.store, piece.id).state, pieces.get(service.store, piece.id).holder) == ("adding", 0)
    monkeypatch.setattr(installation, "_brought", raises(RuntimeError("oops")))
    installation.work(service)
    assert pieces.get(service.store, piece.id).error == installation.BUG


def test_what_is_stopped_while_it_is_tried_leaves_nothing(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    piece = begin(service, tmp_path)
    whole = trial.try_it

    def try_it(*args: Any) -> Any:
        owner_decisions.stop(service, piece.id)
        return whole(*args)

    monkeypatch.setattr(trial, "try_it", try_it)
    installation.work(service)
    with pytest.raises(NotFound):
        pieces.get(service.store, piece.id)
    assert not Places(service.settings.data).package(piece.folder, "1.0.0").exists()


def test_who_was_thought_dead_writes_nothing_more(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    piece = begin(service, tmp_path)
    late = pieces.claim(service)
    assert late is not None
    with service.store.write() as tx:
        pieces.take_over(tx, service, service.generation)
    assert installation.work(service)
    installation.do(service, late)
    assert pieces.get(service.store, piece.id).state == "ready"
    assert Places(service.settings.data).package(piece.folder, "1.0.0").is_dir()


def test_the_registry_tells_the_version_and_what_the_package_does_not(
    service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    describe(monkeypatch)
    release = Release(NAME, "1.0.0", "1.2.0", licence="ISC", author="Acme", published_at=5)
    monkeypatch.setattr(Registry, "look_up", lambda *_: release)
    file = tmp_path / "x.tgz"
    file.write_bytes(package(NAME, license=""))
    monkeypatch.setattr(installer.Installer, "from_registry", lambda self, _, folder: self.from_tarball(file, folder))
    piece = owner_decisions.begin(service, NAME, "1.0.0")
    installation.work(service)
    view = listing.find(service, piece.id)
    assert view.coming is not None
    assert (view.coming.licence, view.coming.author, view.coming.published_at) == ("ISC", "Acme", 5)
    assert (view.piece.newest, view.piece.wanted) == ("1.2.0", "1.0.0")


def test_another_package_than_was_asked_for_is_refused(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    piece = owner_decisions.begin(service, "@acme/piece-other", source=Source("tarball", tarball(tmp_path)))
    installation.work(service)
    assert pieces.get(service.store, piece.id).error == f"It holds {NAME}, and no longer @acme/piece-other."


def test_another_machine_writes_what_one_has_brought(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    piece = begin(service, tmp_path)
    assert installation.work(service)
    owner_decisions.confirm(service, piece.id, [])
    (tmp_path / "data-2").mkdir()
    other = replace(service, settings=replace(service.settings, data=tmp_path / "data-2"))
    assert installation.work(other)
    assert pieces.get(service.store, piece.id).state == "added"
    assert written(other) == ["1.0.0.json"]


def test_who_brings_stops_when_somebody_asks_or_the_row_is_gone(service: Service, tmp_path: Path) -> None:
    begin(service, tmp_path)
    piece = pieces.claim(service)
    assert piece is not None
    brings = installation.new_installer(service, piece)
    assert not brings.stopped()
    owner_decisions.stop(service, piece.id)
    assert brings.stopped()
    with service.store.write() as tx:
        pieces.delete(tx, piece)
    assert brings.stopped()
    assert not installation.new_installer(service).stopped()
