"""Scratch folders that do not outlive their makers for long: what a killed process left is removed by the next one.

Each holds a locked file. The kernel gives the lock back with the last process that shares it, however that died, so a
folder whose lock is free belongs to nobody.
"""

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

LOCK = ".lock"
YOUNG_S = 60.0
"""A folder without a lock may be being made just now."""


class Scratch:
    """A private folder (mode 0700), removed by :meth:`close`. Forks share it; whoever made it closes it."""

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        """``prefix`` is this use's alone. Raises ``OSError``."""
        parent = parent or Path(tempfile.gettempdir())
        sweep(parent, prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        self._lock = hold(self.path)

    def close(self) -> None:
        """Remove it, with all that stands in it."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()


def hold(folder: Path) -> int:
    """Hold ``folder`` until this process and its forks have ended, or the descriptor is closed."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with suppress(BlockingIOError):  # somebody else does
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_free(folder: Path) -> bool:
    """Whether nobody holds ``folder`` just now."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def sweep(parent: Path, prefix: str) -> None:
    """Remove the folders of this user in ``parent`` whose makers are dead."""
    for entry in os.scandir(parent):
        with suppress(OSError):
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False) and _is_left(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left(entry: os.DirEntry[str]) -> bool:
    facts = entry.stat(follow_symlinks=False)
    if facts.st_uid != os.geteuid():
        return False
    try:
        descriptor = os.open(Path(entry.path, LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return time.time() - facts.st_mtime > YOUNG_S
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
