"""A machine's disk is what the table says: brought by the lock, mended, and swept."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.service.domain.pieces.planted import plant
from tests.service.domain.pieces.test_installation import add, written
from tests.service.domain.pieces.tried import describe, tarball
from webapp.service.catalog import sources
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import disk, listing, owner_decisions, pieces
from webapp.service.pieces import packages
from webapp.service.pieces.packages import Places


@pytest.fixture
def other(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """The service of another machine over the same table, on which nothing was brought yet."""
    describe(monkeypatch)
    add(service, tmp_path)
    (tmp_path / "data-2").mkdir()
    return replace(service, settings=replace(service.settings, data=tmp_path / "data-2"))


def test_another_machine_gets_the_same_files_and_components(service: Service, other: Service) -> None:
    (finding,) = disk.check(other.store, other.settings.data)
    assert finding.sentence == "Its package is not on this machine."
    assert disk.sync(other) == disk.check(other.store, other.settings.data) == []
    assert written(other) == written(service) == ["1.0.0.json"]
    place = Places(other.settings.data).package(finding.piece.folder, "1.0.0")
    assert (place / "package-lock.json").is_file()


def test_a_changed_file_is_found_and_brought_again(other: Service) -> None:
    disk.sync(other)
    (piece,) = pieces.all_of(other.store)
    file = Places(other.settings.data).package(piece.folder, "1.0.0") / "node_modules" / piece.package / "index.js"
    file.chmod(0o644)
    file.write_text("evil")
    assert [each.sentence for each in disk.check(other.store, other.settings.data)] == [
        "Its package was changed since it was added."
    ]
    assert disk.sync(other, thoroughly=True) == disk.check(other.store, other.settings.data) == []
    assert file.read_text() != "evil"


def test_what_cannot_be_brought_is_reported_and_tarballs_serve_as_well(other: Service, tmp_path: Path) -> None:
    (tmp_path / "kiosk-1.0.0.tgz").unlink()
    (tmp_path / "empty").mkdir()
    (finding,) = disk.sync(other, tarballs=tmp_path / "empty")
    assert finding.sentence.startswith("The tarball of @acme/piece-kiosk 1.0.0 is missing")
    tarball(tmp_path)
    assert disk.sync(other, tarballs=tmp_path) == []


def test_one_that_cannot_be_read_holds_up_no_other_and_says_so(service: Service, other: Service) -> None:
    for name, lock, contents in (("a", "{}", {}), ("b", "{", {"actions": [1]}), ("c", '{"packages": []}', {"apps": 3})):
        broken = plant(service, name)
        version = pieces.version(service.store, broken, "1.0.0")
        assert version is not None
        with service.store.write() as tx:
            pieces.keep_version(tx, replace(version, lock_file=lock, contents=contents), {})
    findings = disk.sync(other)
    assert sorted((each.piece.package, each.sentence) for each in findings) == [
        (f"@acme/piece-{name}", disk.UNREADABLE_LOCK) for name in "abc"
    ]
    assert written(other) == ["1.0.0.json"]
    views = listing.listed(service)
    assert [(view.piece.title, view.piece.error) for view in views] == [
        *((name, disk.UNREADABLE_LOCK) for name in "ABC"), ("Kiosk", ""),
    ]  # fmt: skip
    assert [view.piece.state for view in views] == ["added"] * 4


def test_what_nobody_foresaw_is_reported_and_put_right_by_the_next(
    service: Service, other: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(pieces, "description", lambda *_: 1)
        assert [each.sentence for each in disk.sync(other)] == [disk.UNREADABLE]
    assert pieces.all_of(service.store)[0].error == disk.UNREADABLE
    assert disk.sync(other) == []
    assert pieces.all_of(service.store)[0].error == ""


def test_what_a_killed_process_left_half_made_goes(service: Service) -> None:
    left = Places(service.settings.data).root / ".bringing-left"
    left.mkdir(parents=True)
    (left / ".lock").touch()
    (left / "package.json").touch()
    disk.sync(service)
    assert not left.exists()


def test_what_was_removed_elsewhere_goes(service: Service, other: Service) -> None:
    disk.sync(other)
    (piece,) = pieces.all_of(service.store)
    owner_decisions.remove(service, piece.id)
    assert disk.sync(other) == []
    assert written(other) == written(service) == []
    assert packages.size(other.settings.data / "pieces" / "packages") == 0


def test_what_is_hidden_and_what_it_may_reach_is_written(service: Service, other: Service) -> None:
    (piece,) = pieces.all_of(service.store)
    owner_decisions.hide(service, piece.id)
    owner_decisions.set_hosts(service, piece.id, ["b.example"])
    disk.sync(service)
    assert sources.read_unlisted(service.settings.data / "pieces" / "apps") == ["kiosk", "kiosk-sell"]
    (file,) = (service.settings.data / "pieces" / "apps").glob("*/actions/*/*.json")
    assert "b.example" in file.read_text()
