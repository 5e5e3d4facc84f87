"""Backups and their way back: whole, of one moment, worth nothing without the key, all or nothing.

Restoring: what is no backup is refused before anything is touched, and an interrupted one is brought to its end.
"""

import json
import shutil
import sqlite3
import stat
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import load
from tests.fakes.provider import FakeProvider
from tests.once import folders
from webapp.errors import Conflict, Invalid, PatchbayError
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.accounts import credentials
from webapp.service.domain.base.keyring import WrongKey
from webapp.service.domain.instance import backups, rotation
from webapp.service.domain.instance.backups import APPS, DATABASE, FORMAT, MANIFEST
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore


def settings_at(data: Path, **env: str) -> Settings:
    data.mkdir(exist_ok=True)
    return Settings.from_env(env, data=data)


def names_in(settings: Settings) -> list[str]:
    """The projects of a data folder."""
    service = open_service(settings, FakeClock())
    try:
        return [row["name"] for row in service.store.all("SELECT name FROM projects ORDER BY name")]
    finally:
        close_service(service)


def add(settings: Settings, name: str) -> None:
    service = open_service(settings, FakeClock())
    projects.create(service, name=name)
    close_service(service)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one project and one app of its own, to be copied: its catalog takes a second to build."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "apps" / "mine").mkdir(parents=True)
    (folder / "apps" / "mine" / "notes.txt").write_text("first")
    for place in ("packages/piece-shop/1.0.0", ".bringing-x"):
        (folder / "pieces" / place).mkdir(parents=True)
        (folder / "pieces" / place / "package-lock.json").write_text("{}")
    add(settings_at(folder), "First")
    return folder


@pytest.fixture
def backup(settings: Settings, tmp_path: Path, clock: FakeClock, prepared: Path) -> Path:
    """A backup of such a folder, which stands in ``settings.data``."""
    folders.copy(prepared, settings.data)
    backups.write(settings, tmp_path / "one.zip", clock)
    return tmp_path / "one.zip"


def test_it_is_for_its_owner_only_and_holds_no_key(settings: Settings, backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with zipfile.ZipFile(backup) as archive:
        assert archive.namelist() == [
            "backup.json", "patchbay.db", "apps/mine/notes.txt", "pieces/packages/piece-shop/1.0.0/package-lock.json",
        ]  # fmt: skip
        whole = b"".join(archive.read(name) for name in archive.namelist())
    key = (settings.data / "keys").read_bytes().strip()
    assert key not in whole and bytes.fromhex(key.decode()) not in whole
    assert list(backup.parent.glob(".patchbay-backup-*")) == []


def test_sealed_credentials_stay_sealed_and_old_keys_are_left_behind(
    open_bench: Callable[[], Any], tmp_path: Path
) -> None:
    bench = open_bench()
    service = bench.service
    bench.connect(access_token="canary-access", refresh_token="canary-refresh")
    old = [row["wrapped"] for row in service.store.all("SELECT wrapped FROM data_keys WHERE owner <> 'instance'")]
    rotation.rotate(service)
    backups.write(service.settings, tmp_path / "b.zip", service.clock)
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        database = archive.read("patchbay.db")
    assert b"canary" not in database and not any(one in database for one in old)


def test_dated_backups_are_kept_as_many_as_said_and_nothing_else_is_touched(
    settings: Settings, backup: Path, clock: FakeClock
) -> None:
    folder = backup.parent / "dated"
    folder.mkdir()
    others = {"mine.zip", "patchbay-latest.zip", "patchbay-20260101T000000Z.zip.part"}
    for name in others:
        (folder / name).write_text("mine")
    for _ in range(4):
        path, _ = backups.write_dated(settings, folder, 2, clock)
        clock.advance(90 * SECOND)
    assert path.name == "patchbay-20270115T080430Z.zip"
    assert {file.name for file in folder.iterdir()} == others | {path.name, "patchbay-20270115T080300Z.zip"}
    (settings.data / "patchbay.db").rename(settings.data / "away")
    with pytest.raises(Invalid):
        backups.write_dated(settings, folder, 1, clock)
    assert len(list(folder.iterdir())) == 5


def test_it_stands_beside_a_program_that_reads_for_long_and_folds_the_log(
    settings: Settings, backup: Path, clock: FakeClock
) -> None:
    """As Litestream does (install "Litestream"): tables of its own, a read transaction, checkpoints."""
    with closing(sqlite3.connect(settings.data / "patchbay.db", isolation_level=None)) as other:
        other.execute("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
        other.execute("CREATE TABLE _litestream_lock (id INTEGER)")
        other.execute("BEGIN")
        other.execute("SELECT COUNT(*) FROM _litestream_seq").fetchone()
        add(settings, "Second")
        assert len(other.execute("SELECT * FROM projects").fetchall()) == 1
        other.execute("ROLLBACK")
        other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        add(settings, "Third")
    backups.write(settings, backup.with_name("two.zip"), clock)
    backups.restore(settings, backup.with_name("two.zip"), clock)
    assert names_in(settings) == ["First", "Second", "Third"]


def test_the_way_back(settings: Settings, backup: Path, clock: FakeClock) -> None:
    add(settings, "Second")
    (settings.data / "apps" / "mine" / "notes.txt").write_text("second")
    (settings.data / "apps" / "mine" / "more.txt").write_text("more")
    shutil.rmtree(settings.data / "pieces")
    assert names_in(settings) == ["First", "Second"]
    assert backups.restore(settings, backup, clock)["made_at"] == "2027-01-15T08:00:00.000Z"
    assert names_in(settings) == ["First"]
    assert [(path.name, path.read_text()) for path in (settings.data / "apps" / "mine").iterdir()] == [
        ("notes.txt", "first")
    ]
    assert (settings.data / "pieces" / "packages" / "piece-shop" / "1.0.0" / "package-lock.json").is_file()
    assert stat.S_IMODE((settings.data / "patchbay.db").stat().st_mode) == 0o600
    assert (settings.data / "replaced" / "apps" / "mine" / "more.txt").read_text() == "more"
    with closing(sqlite3.connect(settings.data / "replaced" / "patchbay.db")) as kept:
        assert len(kept.execute("SELECT * FROM projects").fetchall()) == 2
    backups.restore(settings, backup, clock)
    assert names_in(settings) == ["First"]


def test_into_an_empty_folder_with_the_key(settings: Settings, backup: Path, clock: FakeClock, tmp_path: Path) -> None:
    there = settings_at(tmp_path / "there")
    with pytest.raises(Invalid, match="There is no key to open the backup with; put the keys file"):
        backups.restore(there, backup, clock)
    (there.data / "keys").write_bytes((settings.data / "keys").read_bytes())
    backups.restore(there, backup, clock)
    assert names_in(there) == ["First"] and not (there.data / "replaced").exists()


def test_while_anything_runs_it_is_refused(settings: Settings, backup: Path, clock: FakeClock) -> None:
    service = open_service(settings, clock)
    try:
        with pytest.raises(Conflict, match="is running"):
            backups.restore(settings, backup, clock)
    finally:
        close_service(service)


def untouched(settings: Settings) -> dict[str, bytes]:
    return {
        str(path.relative_to(settings.data)): path.read_bytes() for path in settings.data.rglob("*") if path.is_file()
    }


def rewritten(backup: Path, **members: bytes | None) -> Path:
    """The backup with other members; None leaves one out."""
    target = backup.with_name("changed.zip")
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            content = members.get(name.replace(".", "_"), source.read(name))
            if content is not None:
                archive.writestr(name, content)
    return target


def changed_database(backup: Path, *statements: str) -> bytes:
    path = backup.with_name("changed.db")
    with zipfile.ZipFile(backup) as archive:
        path.write_bytes(archive.read("patchbay.db"))
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path.read_bytes()


NEWER = "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('patchbay', 'm999', '')"
WRONG: dict[str, tuple[Callable[[Path], Path], str]] = {
    "not there": (lambda backup: backup.with_name("absent.zip"), "There is no file"),
    "no zip": (lambda backup: _written(backup.with_name("x.zip"), b"hello"), "is not a backup of Patchbay"),
    "cut off": (lambda backup: _written(backup.with_name("x.zip"), backup.read_bytes()[:-300]), "is not a backup"),
    "one byte changed": (
        lambda backup: _written(backup.with_name("x.zip"), _flipped(backup.read_bytes())), "is not a backup",
    ),
    "another zip": (lambda backup: rewritten(backup, backup_json=None), "is not a backup"),
    "no database": (lambda backup: rewritten(backup, patchbay_db=None), "is not a backup"),
    "broken manifest": (lambda backup: rewritten(backup, backup_json=b"[]"), "is not a backup"),
    "a newer format": (lambda backup: rewritten(backup, backup_json=b'{"format": 2}'), "newer version of Patchbay"),
    "a newer schema": (
        lambda backup: rewritten(backup, patchbay_db=changed_database(backup, NEWER)), "newer version of Patchbay",
    ),
    "another database": (
        lambda backup: rewritten(backup, patchbay_db=changed_database(backup, "DROP TABLE _sqlite_migrations")),
        "no database of Patchbay",
    ),
    "a torn database": (lambda backup: rewritten(backup, patchbay_db=b"x" * 9_000), "damaged"),
}  # fmt: skip


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_good_backup_is_refused_and_nothing_changes(
    settings: Settings, backup: Path, clock: FakeClock, what: str
) -> None:
    add(settings, "Second")
    make, sentence = WRONG[what]
    source, before = make(backup), untouched(settings)
    with pytest.raises(PatchbayError, match=sentence):
        backups.restore(settings, source, clock)
    assert untouched(settings) == before


def test_a_backup_of_another_key_is_refused_and_nothing_changes(
    settings: Settings, backup: Path, clock: FakeClock, tmp_path: Path
) -> None:
    other = settings_at(tmp_path / "other")
    add(other, "Other")
    before = untouched(other)
    with pytest.raises(WrongKey, match="does not open this database"):
        backups.restore(other, backup, clock)
    assert untouched(other) == before


def test_a_file_that_is_there_is_never_overwritten(settings: Settings, backup: Path, clock: FakeClock) -> None:
    before = backup.read_bytes()
    with pytest.raises(Conflict, match="is there already"):
        backups.write(settings, backup, clock)
    assert backup.read_bytes() == before


def test_without_a_database_or_a_folder_it_is_refused(settings: Settings, clock: FakeClock, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no database"):
        backups.write(settings, tmp_path / "b.zip", clock)
    add(settings, "First")
    with pytest.raises(Invalid, match="no folder"):
        backups.write(settings, tmp_path / "absent" / "b.zip", clock)


@pytest.mark.parametrize("steps", range(9))
def test_killed_at_any_step_it_is_the_old_or_the_new_one(
    settings: Settings, backup: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """The power goes after so many renames; the next start finds everything as it was, or as the backup has it."""
    add(settings, "Second")
    (settings.data / "apps" / "mine" / "notes.txt").write_text("second")
    done = list[str]()

    def counted(name: str) -> None:
        real: Callable[[Path, Path], Path] = getattr(Path, name)

        def rename(path: Path, target: Path) -> Path:
            if len(done) == steps:
                raise KeyboardInterrupt
            done.append(path.name)
            return real(path, target)

        monkeypatch.setattr(Path, name, rename)

    counted("rename")
    counted("replace")
    try:
        backups.restore(settings, backup, clock)
    except KeyboardInterrupt:
        counts = bool(done)
    else:
        counts, steps = True, -1
    monkeypatch.undo()
    found = names_in(settings), (settings.data / "apps" / "mine" / "notes.txt").read_text()
    assert found == ((["First"], "first") if counts else (["First", "Second"], "second"))
    assert not (settings.data / ".restore").exists()
    if counts:
        assert (settings.data / "replaced" / "apps" / "mine" / "notes.txt").read_text() == "second"
        assert (settings.data / "replaced" / "patchbay.db").exists()


@pytest.mark.faults
def test_a_backup_under_load_holds_all_that_was_connected_before_it(
    data: Path, acme: FakeProvider, tmp_path: Path
) -> None:
    load.furnish(data, acme)
    env = load.environment(data, acme)
    with load.load(env) as told:
        told.wait_for_more(8)
        before = list(told.connected)
        made = load.patchbay(env, "backup", str(tmp_path / "b.zip"), "--json")
        assert made.returncode == 0, made.stderr
        refused = load.patchbay(env, "restore", str(tmp_path / "b.zip"))
        assert refused.returncode == 1 and "is running on" in refused.stderr
        rotated = load.patchbay(env, "keys", "rotate", "--json")
        assert rotated.returncode == 0, rotated.stderr
        told.wait_for_more(4)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "keys").write_bytes((data / "keys").read_bytes())
    there = load.environment(elsewhere, acme)
    restored = load.patchbay(there, "restore", str(tmp_path / "b.zip"), "--json")
    assert json.loads(restored.stdout)["made_at"] == json.loads(made.stdout)["made_at"]
    for place, connected in ((there, before), (env, told.connected)):
        with load.opened(place) as service:
            found = load.every_account(service)
            assert set(connected) <= set(found)
            assert all(credentials.read(service, account)["oauth_access_token"] for account in found.values())
            assert service.store.one("PRAGMA integrity_check") == {"integrity_check": "ok"}


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
        backups.restore(settings, archive(tmp_path / "backup.zip", members), clock)
    assert refusal.value.message.endswith(".")
    assert (settings.data / "own.txt").read_text() == "mine"
    assert not list(settings.data.glob(".restore*"))


def test_no_file_and_no_archive_are_refused(settings: Settings, clock: FakeClock, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="There is no file"):
        backups.restore(settings, tmp_path / "none.zip", clock)
    (tmp_path / "text.zip").write_text("text")
    with pytest.raises(Invalid, match="is not a backup of Patchbay"):
        backups.restore(settings, tmp_path / "text.zip", clock)


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
    assert backups._is_of_a_folder(name) is taken


def test_a_restore_that_was_interrupted_is_finished_and_keeps_what_stood_there(data: Path) -> None:
    ready = data / ".restore"
    (ready / APPS).mkdir(parents=True)
    (ready / DATABASE).write_text("new")
    (data / DATABASE).write_text("old")
    (data / f"{DATABASE}-wal").write_text("old log")
    backups.finish(data)
    assert (data / DATABASE).read_text() == "new"
    assert (data / APPS).is_dir()
    assert not ready.exists()
    assert not (data / f"{DATABASE}-wal").exists()
    kept = {path.name: path.read_text() for path in (data / backups.REPLACED).iterdir()}
    assert kept == {DATABASE: "old", f"{DATABASE}-wal": "old log"}
    backups.finish(data)
    assert (data / DATABASE).read_text() == "new"


def test_what_a_killed_restore_left_before_it_counted_is_forgotten(settings: Settings) -> None:
    draft = settings.data / ".restore.draft"
    draft.mkdir()
    with closing(SQLiteStore(settings.database)):
        backups.finish(settings.data)
        assert draft.exists(), "somebody may be restoring"
    backups.finish(settings.data)
    assert not draft.exists()
