"""Writes a backup while the service runs, and restores one while nothing runs on the data folder.

A backup is a ZIP file with the database, the operator's own apps and integrations. The database is consistent. Sealed
values stay sealed, and the instance key is not in the backup: without the key, which the operator keeps elsewhere, a
backup is worthless. The catalog, which is built from the apps, and the sandbox are not in it.

To restore, the backup is unpacked and verified next to the data; renaming the finished ``.restore`` is the moment from
which the restore counts. The files are then moved by :func:`finish`, which every start calls and which may be
interrupted at any point. The previous files go to ``replaced``.
"""

import json
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from webapp.errors import Conflict, Invalid
from webapp.kit.clock import Clock, iso
from webapp.kit.scratch import Scratch
from webapp.service.domain.base.keyring import Keyring, load_instance_key
from webapp.settings import Settings
from webapp.store import lock_files, sqlite
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import refuse_server

FORMAT = 1
DATABASE, MANIFEST = "patchbay.db", "backup.json"
FOLDERS = APPS, PIECES, EXTENSIONS = "apps", "pieces", "extensions"
"""Of the data folder: the operator's own apps, added integrations, and whole APIs of apps."""
REPLACED = "replaced"
_READY, _DRAFT = ".restore", ".restore.draft"
_NO_BACKUP = "{} is not a backup of Patchbay; name a file that `patchbay backup` made."
_DATED = re.compile(r"patchbay-\d{8}T\d{6}Z\.zip")


def write(settings: Settings, target: Path, clock: Clock) -> dict[str, Any]:
    """Write a backup to ``target``, atomically and readable only by its owner; return its description.

    Raises :class:`Invalid` without a database, :class:`Conflict` if ``target`` exists.
    """
    refuse_server(
        settings,
        "The database is a PostgreSQL server's: back it up with pg_dump or the server's own means, and keep the key "
        f"({settings.data / 'keys'}, or PATCHBAY_SECRET_KEY), {settings.data / APPS}, {settings.data / PIECES} and "
        f"{settings.data / EXTENSIONS} beside it.",
    )
    database = settings.data / DATABASE
    if not database.exists():
        raise Invalid(f"There is no database in {settings.data}; check PATCHBAY_DATA.")
    if target.exists():
        raise Conflict(f"{target} is there already; choose another name, so that no backup is lost.")
    if not target.parent.is_dir():
        raise Invalid(f"There is no folder {target.parent}; make it first.")
    manifest = {"format": FORMAT, "made_at": iso(clock())}
    with Scratch(".patchbay-backup-", target.parent) as folder:
        copy, draft = folder / DATABASE, folder / "backup.zip"
        sqlite.copy_database(database, copy)
        _pack(draft, manifest, copy, settings.data)
        _publish(draft, target)
    return manifest


def write_dated(settings: Settings, folder: Path, keep: int, clock: Clock) -> tuple[Path, dict[str, Any]]:
    """Write a backup to ``folder``, named by its time, and then remove all dated ones there but the newest ``keep``.

    Other files in ``folder`` stay, as do all if the backup fails. Raises like :func:`write`.
    """
    moment = re.sub(r"[-:]|\.\d+", "", iso(clock()))
    target = folder / f"patchbay-{moment}.zip"
    manifest = write(settings, target, clock)
    dated = sorted(path for path in folder.iterdir() if _DATED.fullmatch(path.name))
    for path in dated[:-keep]:
        path.unlink()
    return target, manifest


def _pack(draft: Path, manifest: dict[str, Any], copy: Path, data: Path) -> None:
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as archive:
            archive.writestr(MANIFEST, json.dumps(manifest))
            archive.write(copy, DATABASE)
            for path in _files(data):
                with suppress(FileNotFoundError):  # gone since, with its integration
                    archive.write(path, path.relative_to(data).as_posix())
        file.flush()
        os.fsync(file.fileno())


def _files(data: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        for path in filter(Path.is_file, sorted((data / folder).rglob("*"))):
            if folder != PIECES or not path.relative_to(data / folder).parts[0].startswith(
                "."
            ):  # what is being installed
                yield path


def _publish(draft: Path, target: Path) -> None:
    try:
        os.link(draft, target)  # unlike a rename, this never replaces another backup
    except FileExistsError as error:
        raise Conflict(f"{target} is there already; choose another name, so that no backup is lost.") from error
    except OSError:  # a file system without links
        draft.rename(target)


def restore(settings: Settings, source: Path, clock: Clock) -> dict[str, Any]:
    """Restore the data folder from the backup ``source``; return the backup's description.

    Raises :class:`webapp.errors.Conflict` while Patchbay runs, :class:`Invalid` for a file that is no backup, is
    damaged or was made by a newer version, :class:`webapp.service.domain.base.keyring.WrongKey`. Nothing has changed
    then.
    """
    refuse_server(
        settings,
        "The database is a PostgreSQL server's: restore it with pg_restore or the server's own means, or unset "
        "PATCHBAY_DATABASE_URL to restore a backup of the embedded one.",
    )
    data = settings.data
    draft = data / _DRAFT
    with lock_files.exclusive(data / DATABASE):
        _finish(data)
        _clear(draft)
        try:
            draft.mkdir(mode=0o700)
            manifest = _unpack(source, draft)
            sqlite.inspect_copy(draft / DATABASE)
            _check_key(settings, draft / DATABASE, clock)
            for folder in FOLDERS:
                if (data / folder).is_mount():
                    raise Invalid(f"{data / folder} is a mount, which cannot be replaced; unmount it, then restore.")
            draft.rename(data / _READY)
        finally:
            _clear(draft)
        _finish(data)
    return manifest


def finish(data: Path) -> None:
    """Bring a restore to its end that was interrupted after it counted; forget one that did not count yet."""
    if (data / _READY).exists():
        with lock_files.exclusive(data / DATABASE, wait=True):
            _finish(data)
    if (data / _DRAFT).exists():
        with suppress(Conflict), lock_files.exclusive(data / DATABASE):
            _clear(data / _DRAFT)


def _finish(data: Path) -> None:
    """Move everything to its place; each step may have been done before."""
    ready, old = data / _READY, data / _READY / REPLACED
    if not ready.exists():
        return
    old.mkdir(exist_ok=True)
    if (ready / DATABASE).exists():
        for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):  # they belong only to the old database
            if (data / name).exists():
                (data / name).replace(old / name)
    for name in (*FOLDERS, DATABASE):
        if (ready / name).exists():
            if (data / name).exists():
                (data / name).replace(old / name)
            (ready / name).replace(data / name)
    _sync(data)
    if any(old.iterdir()):
        _clear(data / REPLACED)
        old.rename(data / REPLACED)
    _clear(ready)


def _unpack(source: Path, draft: Path) -> dict[str, Any]:
    """Take the backup apart, reading every byte, so that a damaged one is noticed."""
    if not source.is_file():
        raise Invalid(f"There is no file {source}.")
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = _manifest(source, archive)
            for folder in FOLDERS:
                (draft / folder).mkdir()
            for name in archive.namelist():
                if name == DATABASE or _is_of_a_folder(name):
                    archive.extract(name, draft)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error) as error:
        raise Invalid(_NO_BACKUP.format(source)) from error
    if not (draft / DATABASE).is_file():
        raise Invalid(_NO_BACKUP.format(source))
    (draft / DATABASE).chmod(0o600)
    _sync(draft / DATABASE)
    return manifest


def _manifest(source: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read(MANIFEST))
        number = manifest["format"]
    except (KeyError, ValueError, TypeError) as error:
        raise Invalid(_NO_BACKUP.format(source)) from error
    if number != FORMAT:
        raise Invalid(f"{source} was made by a newer version of Patchbay. Install that version, then restore.")
    return dict(manifest)


def _is_of_a_folder(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return len(parts) > 1 and parts[0] in FOLDERS and ".." not in parts and not name.endswith("/")


def _check_key(settings: Settings, database: Path, clock: Clock) -> None:
    if settings.secret_key is None and not (settings.data / "keys").exists():
        raise Invalid(
            f"There is no key to open the backup with; put the keys file that belongs to it at "
            f"{settings.data / 'keys'}, or set PATCHBAY_SECRET_KEY."
        )
    with closing(SQLiteStore(database, exclusive=True)) as store:
        Keyring(store, load_instance_key(settings, new=False), clock).prove()


def _clear(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
