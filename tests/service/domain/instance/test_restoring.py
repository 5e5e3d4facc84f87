"""Restoring: what is no backup is refused before anything is touched, and an interrupted one is brought to its end."""

import json
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from webapp.errors import Invalid
from webapp.kit.clock import FakeClock
from webapp.service.domain.instance import restoring
from webapp.service.domain.instance.backups import APPS, DATABASE, FORMAT, MANIFEST
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore


def archive(path: Path, members: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return path


def manifest(number: int = FORMAT) -> str:
    return json.dumps({"format": number})


@pytest.mark.parametrize(
    "members",
    [
        {},
        {MANIFEST: "no JSON"},
        {MANIFEST: "[]"},
        {MANIFEST: "{}"},
        {MANIFEST: manifest(FORMAT + 1), DATABASE: "x"},
        {MANIFEST: manifest()},
        {MANIFEST: manifest(), DATABASE: "no database"},
    ],
)
def test_what_is_no_backup_is_refused_and_nothing_changes(
    settings: Settings, clock: FakeClock, tmp_path: Path, members: Mapping[str, str]
) -> None:
    (settings.data / "own.txt").write_text("mine")
    with pytest.raises(Invalid) as refusal:
        restoring.restore(settings, archive(tmp_path / "backup.zip", members), clock)
    assert refusal.value.message.endswith(".")
    assert (settings.data / "own.txt").read_text() == "mine"
    assert not list(settings.data.glob(".restore*"))


def test_no_file_and_no_archive_are_refused(settings: Settings, clock: FakeClock, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="There is no file"):
        restoring.restore(settings, tmp_path / "none.zip", clock)
    (tmp_path / "text.zip").write_text("text")
    with pytest.raises(Invalid, match="is not a backup of Patchbay"):
        restoring.restore(settings, tmp_path / "text.zip", clock)


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("apps/mine/app.toml", True),
        ("pieces/apps/shop/app.toml", True),
        ("apps/", False),
        ("apps/mine/", False),
        ("../apps/x", False),
        ("apps/../../etc/passwd", False),
        ("/apps/x", False),
        ("keys", False),
    ],
)
def test_only_files_of_apps_and_integrations_are_taken_out(name: str, taken: bool) -> None:
    assert restoring._is_of_a_folder(name) is taken


def test_a_restore_that_was_interrupted_is_finished_and_keeps_what_stood_there(data: Path) -> None:
    ready = data / ".restore"
    (ready / APPS).mkdir(parents=True)
    (ready / DATABASE).write_text("new")
    (data / DATABASE).write_text("old")
    (data / f"{DATABASE}-wal").write_text("old log")
    restoring.finish(data)
    assert (data / DATABASE).read_text() == "new"
    assert (data / APPS).is_dir()
    assert not ready.exists()
    assert not (data / f"{DATABASE}-wal").exists()
    kept = {path.name: path.read_text() for path in (data / restoring.REPLACED).iterdir()}
    assert kept == {DATABASE: "old", f"{DATABASE}-wal": "old log"}
    restoring.finish(data)
    assert (data / DATABASE).read_text() == "new"


def test_what_a_killed_restore_left_before_it_counted_is_forgotten(settings: Settings) -> None:
    draft = settings.data / ".restore.draft"
    draft.mkdir()
    with closing(SQLiteStore(settings.database)):
        restoring.finish(settings.data)
        assert draft.exists(), "somebody may be restoring"
    restoring.finish(settings.data)
    assert not draft.exists()
