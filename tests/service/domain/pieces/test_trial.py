"""Trying a package: what it says of itself, and the text in which addresses are looked for."""

from pathlib import Path

import pytest

from webapp.service.domain.pieces import trial


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "package.json").write_text('{"name": "x", "main": "./src/index.js"}')
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "index.js").write_text("one")
    (tmp_path / "src" / "other.js").write_text("two")
    return tmp_path


def test_small_programs_are_read_whole_and_a_bundle_is_one_file(folder: Path) -> None:
    assert trial.source_of(folder) == "one\ntwo"
    (folder / "src" / "index.js").write_text("x" * 200_000)
    assert trial.source_of(folder) == "x" * 200_000


def test_what_leads_elsewhere_is_not_read(folder: Path) -> None:
    (folder / "package.json").write_text('{"name": "x", "main": "../../../etc/passwd"}')
    assert trial.source_of(folder) == "one\ntwo"
