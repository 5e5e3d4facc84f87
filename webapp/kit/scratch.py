"""Temporary folders that are removed even after a crash: the next process removes the folders of killed ones.

Each folder contains a locked file. The kernel releases the lock when the last process that shares it ends, however it
ends, so a folder with a free lock is abandoned.
"""

import fcntl
import itertools
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

LOCK = ".lock"
YOUNG_S = 60.0
"""A younger folder without a lock file may be one that another process is just creating."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Scratch:
    """A private folder (mode 0700). Forked processes share it; its creator removes it with :meth:`close`."""

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        """``prefix`` must be unique to this use. Raises ``OSError``."""
        parent = parent or Path(tempfile.gettempdir())
        sweep(parent, prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        self._lock = hold(self.path)

    def close(self) -> None:
        """Remove the folder with everything in it."""
        if self._lock >= 0:
            remove(self.path)
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()


def hold(folder: Path) -> int:
    """Lock ``folder`` until this process and its forks have ended, or the returned descriptor is closed."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with suppress(BlockingIOError):  # another process holds it
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_free(folder: Path) -> bool:
    """Whether no process holds ``folder``."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def sweep(parent: Path, prefix: str) -> None:
    """Remove this user's abandoned folders in ``parent`` whose names start with ``prefix``."""
    for entry in os.scandir(parent):
        with suppress(OSError):
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False) and _is_left(entry):
                remove(Path(entry.path))


def remove(folder: Path) -> None:
    """Remove ``folder`` with everything in it, as far as possible.

    Untrusted code may have nested folders deeper than paths can be long, or than functions can recurse.
    """
    empty(folder)
    with suppress(OSError):
        folder.rmdir()


def empty(folder: Path) -> None:
    """Remove everything in ``folder``, as far as possible, like :func:`remove`."""
    with suppress(OSError):
        top = os.open(folder, _FOLDER)
        try:
            with suppress(OSError):
                os.fchmod(top, 0o700)
            _empty(top)
        finally:
            os.close(top)


def _empty(top: int) -> None:
    """Remove the folders in ``top``, after moving the folders inside each of them up to ``top``."""
    names = (f".{os.urandom(8).hex()}-{number}" for number in itertools.count())
    waiting = _without_files(top)
    while waiting:
        name = waiting.pop()
        with suppress(OSError):
            inner = _opened(name, top)
            try:
                for child in _without_files(inner):
                    os.close(_opened(child, inner))  # makes it writable, which it must be to be moved
                    brought_up = next(names)
                    os.rename(child, brought_up, src_dir_fd=inner, dst_dir_fd=top)
                    waiting.append(brought_up)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _opened(name: str, folder: int) -> int:
    """Open the folder ``name`` in the open ``folder``, after making it accessible to its owner."""
    shut = os.open(name, _FOLDER | os.O_PATH, dir_fd=folder)
    try:
        with suppress(OSError):
            Path(f"/proc/self/fd/{shut}").chmod(0o700)
    finally:
        os.close(shut)
    return os.open(name, _FOLDER, dir_fd=folder)


def _without_files(folder: int) -> list[str]:
    """Remove the files and links in the open ``folder``, and return the names of its folders."""
    folders: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                with suppress(OSError):
                    os.unlink(entry.name, dir_fd=folder)
    return folders


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
