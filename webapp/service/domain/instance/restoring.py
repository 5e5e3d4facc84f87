"""Putting a backup in the place of what stands in a data folder, while nothing runs on it.

The backup is unpacked and examined beside the data first; renaming the finished ``.restore`` is the moment from which
the restore counts. What is left to do then is moving files, which :func:`finish` does however often it is interrupted:
every start calls it. What stood there before goes to ``replaced``.
"""

import json
import os
import shutil
import zipfile
import zlib
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from webapp.errors import Conflict, Invalid
from webapp.kit.clock import Clock
from webapp.service.domain.base.keyring import Keyring, load_instance_key
from webapp.service.domain.instance.backups import DATABASE, FOLDERS, FORMAT, MANIFEST
from webapp.settings import Settings
from webapp.store import presence, sqlite
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import refuse_server

REPLACED = "replaced"
_READY, _DRAFT = ".restore", ".restore.draft"
_NO_BACKUP = "{} is not a backup of Patchbay; name a file that `patchbay backup` made."


def restore(settings: Settings, source: Path, clock: Clock) -> dict[str, Any]:
    """Make the data folder what it was when the backup ``source`` was made; what the backup says of itself.

    Raises :class:`webapp.errors.Conflict` while Patchbay runs, :class:`Invalid` for what is no backup, is damaged or
    was made by a newer version, :class:`webapp.service.domain.base.keyring.WrongKey`. Nothing has changed then.
    """
    refuse_server(
        settings,
        "The database is a PostgreSQL server's: restore it with pg_restore or the server's own means, or unset "
        "PATCHBAY_DATABASE_URL to restore a backup of the embedded one.",
    )
    data = settings.data
    draft = data / _DRAFT
    with presence.alone(data / DATABASE):
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
        with presence.alone(data / DATABASE, wait=True):
            _finish(data)
    if (data / _DRAFT).exists():
        with suppress(Conflict), presence.alone(data / DATABASE):
            _clear(data / _DRAFT)


def _finish(data: Path) -> None:
    """Move everything to its place; each step may have been done before."""
    ready, old = data / _READY, data / _READY / REPLACED
    if not ready.exists():
        return
    old.mkdir(exist_ok=True)
    if (ready / DATABASE).exists():
        for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):  # they belong to the old database alone
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
    with closing(SQLiteStore(database, alone=True)) as store:
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
