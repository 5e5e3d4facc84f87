"""The files of a call: what was written is handed over, once, and nothing that merely lies there."""

import base64
import tempfile
from pathlib import Path
from typing import Any

import pytest

from webapp.service.components import limits
from webapp.service.components.errors import ComponentError
from webapp.service.components.files import Files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of one call."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def handed_over(files: Files) -> tuple[dict[str, bytes], list[str]]:
    sent: list[dict[str, Any]] = []
    said: list[str] = []
    files.hand_over(sent.append, said.append)
    return {one["file"]: base64.b64decode(one["content"]) for one in sent}, said


def test_what_was_written_is_handed_over(folder: Path) -> None:
    files = Files({"old.txt": base64.b64encode(b"old").decode(), "changed.txt": base64.b64encode(b"1").decode()})
    assert (folder / "old.txt").read_bytes() == b"old"
    files.write("new.txt", b"new")
    files.path("changed.txt").write_bytes(b"22")
    files.path("never-written.txt")
    (folder / "stray.txt").write_bytes(b"stray")
    (folder / "secret").write_bytes(b"secret")
    files.path("link").symlink_to(folder / "secret")
    files.path("folder").mkdir()
    assert handed_over(files) == ({"changed.txt": b"22", "new.txt": b"new"}, [])


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc/passwd", "a\0b"])
def test_no_name_leaves_the_folder(folder: Path, name: str) -> None:
    with pytest.raises(ComponentError):
        Files({}).write(name, b"x")


def test_there_is_an_end_to_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STASH_BYTES", 5)
    monkeypatch.setattr(limits, "STASH_FILES", 3)
    files = Files({})
    for name, size in (("a", 3), ("b", 3), ("c", 2), ("d", 0)):
        files.write(name, bytes(size))
    sent, said = handed_over(files)
    assert list(sent) == ["a", "c"]
    assert [line.split()[0] for line in said] == ["b", "d"]
