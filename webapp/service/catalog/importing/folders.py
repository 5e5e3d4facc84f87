"""Exchanges the folder of an imported app for another: readers meet one or the other, and a crash loses neither.

Every start recovers what a crash left, without loading the importer.
"""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ASIDE = ".replaced-apps"  # where the old folder stands meanwhile


def exchange(data: Path, slug: str, new: Path) -> None:
    """Let the folder ``new`` be that of the app ``slug``, in place of the current one."""
    place, old = data / "apps" / slug, _aside(data, slug)
    place.parent.mkdir(exist_ok=True)
    if place.exists():
        place.rename(old)
    new.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def remove_folder(data: Path, slug: str) -> None:
    """Remove the folder of the app ``slug``, whole."""
    with alone(data):
        old = _aside(data, slug)
        (data / "apps" / slug).rename(old)
        shutil.rmtree(old)


def recover(data: Path) -> None:
    """Put right what a crash in the middle of an exchange left."""
    if not (data / _ASIDE).is_dir():
        return
    with alone(data):
        for old in (data / _ASIDE).glob("*"):
            place = data / "apps" / old.name
            shutil.rmtree(old, ignore_errors=True) if place.exists() else old.rename(place)


@contextmanager
def alone(data: Path) -> Iterator[None]:
    """One import at a time."""
    with (data / ".importing").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _aside(data: Path, slug: str) -> Path:
    (data / _ASIDE).mkdir(exist_ok=True)
    return data / _ASIDE / slug
