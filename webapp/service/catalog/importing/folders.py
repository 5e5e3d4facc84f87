"""Exchanges the folder of an imported app, or of a document that extends one, for another: readers meet one or the
other, and a crash loses neither.

Every start recovers what a crash left, without loading the importer.
"""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

APPS, EXTENSIONS = "apps", "extensions"
"""Where the folders of imported apps are, and those of documents that extend apps."""


def exchange(data: Path, slug: str, new: Path, within: str = APPS) -> None:
    """Let the folder ``new`` be that of ``slug`` in the folder ``within``, in place of the current one."""
    place, old = data / within / slug, _aside(data, slug, within)
    place.parent.mkdir(exist_ok=True)
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def remove_folder(data: Path, slug: str, within: str = APPS) -> None:
    """Remove the folder of ``slug`` in the folder ``within``, whole."""
    with alone(data):
        old = _aside(data, slug, within)
        (data / within / slug).rename(old)
        shutil.rmtree(old)


def recover(data: Path) -> None:
    """Put right what a crash in the middle of an exchange left."""
    for within in (APPS, EXTENSIONS):
        if not (data / f".replaced-{within}").is_dir():
            continue
        with alone(data):
            for old in (data / f".replaced-{within}").glob("*"):
                place = data / within / old.name
                shutil.rmtree(old, ignore_errors=True) if place.exists() else old.rename(place)


@contextmanager
def alone(data: Path) -> Iterator[None]:
    """One import at a time."""
    with (data / ".importing").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _aside(data: Path, slug: str, within: str) -> Path:
    """Where the old folder is meanwhile."""
    aside = data / f".replaced-{within}"
    aside.mkdir(exist_ok=True)
    return aside / slug
