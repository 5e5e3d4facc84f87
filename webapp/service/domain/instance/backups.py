"""Writing a backup while the service runs: one ZIP file with the database, the operator's own apps and integrations.

The database is one consistent moment of it. What is sealed in it stays sealed, and the instance key is never part of
it: a backup is worth nothing to whoever has it alone, so the operator keeps the key apart. Nor is the catalog, which
is built from the apps, nor the sandbox. :mod:`restoring` reads it.
"""

import json
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from webapp.errors import Conflict, Invalid
from webapp.kit.clock import Clock, iso
from webapp.kit.scratch import Scratch
from webapp.settings import Settings
from webapp.store import sqlite
from webapp.store.stores import refuse_server

FORMAT = 1
DATABASE, MANIFEST = "patchbay.db", "backup.json"
FOLDERS = APPS, PIECES = "apps", "pieces"
"""What of the data folder goes along: the operator's own apps, and the integrations that were added."""
_DATED = re.compile(r"patchbay-\d{8}T\d{6}Z\.zip")


def write(settings: Settings, target: Path, clock: Clock) -> dict[str, Any]:
    """Write a backup to ``target``, whole or not at all and for its owner alone; what it says of itself.

    Raises :class:`Invalid` without a database, :class:`Conflict` when ``target`` is there already.
    """
    refuse_server(
        settings,
        "The database is a PostgreSQL server's: back it up with pg_dump or the server's own means, and keep the key "
        f"({settings.data / 'keys'}, or PATCHBAY_SECRET_KEY), {settings.data / APPS} and {settings.data / PIECES} "
        "beside it.",
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

    Nothing else in ``folder`` is touched, and nothing where the backup fails. Raises what :func:`write` does.
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
            if folder == APPS or not path.relative_to(data / folder).parts[0].startswith("."):  # what is half brought
                yield path


def _publish(draft: Path, target: Path) -> None:
    try:
        os.link(draft, target)  # unlike a rename, this never replaces another backup
    except FileExistsError as error:
        raise Conflict(f"{target} is there already; choose another name, so that no backup is lost.") from error
    except OSError:  # a file system without links
        draft.rename(target)
