"""Who has a database open: lock files beside it, which the kernel gives back when their holders die.

Everybody who has the database open is present; whoever must be the only one, to replace the file or its keys, is
alone. The two exclude each other. (SQLite's own locks are held for single transactions, so they cannot tell.) Among
those who are present one does the work that is due: it holds the worker's place. And each keeps a sign of life under
its own number, so that others know at once when it is dead.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from webapp.errors import Conflict, Unavailable

PATIENCE_S = 15.0  # longer than a service may take to end


def arrive(database: Path) -> int:
    """Be present: a descriptor to close on leaving; forks share it. Raises :class:`Unavailable` while one is alone."""
    descriptor = _open(database, "in-use")
    if not _lock(descriptor, fcntl.LOCK_SH):
        os.close(descriptor)
        raise Unavailable("The database or its key is being replaced; try again in a moment.")
    return descriptor


@contextmanager
def alone(database: Path, *, wait: bool = False) -> Iterator[None]:
    """Be the only one. Raises :class:`Conflict` when others are present, unless told to ``wait`` for their end."""
    descriptor = _open(database, "in-use")
    try:
        if wait:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        elif not _lock(descriptor, fcntl.LOCK_EX):
            raise Conflict(f"Patchbay is running on {database.parent}; stop it first.")
        yield
    finally:
        os.close(descriptor)


class Place:
    """A place of which there is one for a ``database``: held until this process, and every fork that shares it, has
    ended or left it. Several machines share a database elsewhere (None), which has places for all."""

    _purpose: str
    _words: str

    def __init__(self, database: Path | None, *, patience_s: float = PATIENCE_S) -> None:
        """Take the place; while its holder is ending, wait for it. Raises :class:`Conflict` when somebody holds it."""
        self._descriptor: int | None = None
        if database is None:
            return
        self._descriptor = _open(database, self._purpose)
        try:
            ends = time.monotonic() + patience_s
            while not _lock(self._descriptor, fcntl.LOCK_EX):
                holder, ending = self._holder()
                if not ending or time.monotonic() > ends:
                    raise Conflict(self._words.format(folder=database.parent, holder=holder))
                time.sleep(0.05)
            self._write("works")
        except BaseException:
            self.leave()
            raise

    def end(self) -> None:
        """Say that this process is ending, so that the next one waits for the place. Safe in a signal handler."""
        with suppress(OSError):
            self._write("ends")

    def leave(self) -> None:
        """Give the place back."""
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _write(self, state: str) -> None:
        if self._descriptor is not None:
            os.pwrite(self._descriptor, f"{os.getpid()} {state}".ljust(40).encode(), 0)

    def _holder(self) -> tuple[str, bool]:
        """The process that holds the place, and whether it is ending: it said so, or it died before its forks."""
        holder, _, state = os.pread(self._descriptor or 0, 40, 0).decode("ascii", "replace").partition(" ")
        return holder or "unknown", state.strip() == "ends" or not _is_alive(holder)


class WorkersPlace(Place):
    """The place of the one worker."""

    _purpose = "worker"
    _words = (
        "Patchbay already runs on {folder} (process {holder}); stop it first, or set PATCHBAY_DATA to another folder."
    )


class WebPlace(Place):
    """The place of the web processes, which one process starts."""

    _purpose = "web"
    _words = (
        "Patchbay already answers from {folder} (process {holder}); stop it first. For several web processes set "
        "PATCHBAY_WEB."
    )


class MailPlace:
    """The place of the one worker of a data folder who takes mail; the others try for it until it is free."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the place; False while another process holds it."""
        if self._descriptor is None:
            self._descriptor = _open(self._database, "mail")
        return _lock(self._descriptor, fcntl.LOCK_EX)

    def leave(self) -> None:
        """Give the place back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def vacant_place(database: Path) -> Iterator[bool]:
    """Whether nobody holds the worker's place; if so, nobody takes it within the block."""
    descriptor = _open(database, "worker")
    try:
        yield _lock(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


class SignOfLife:
    """A locked file under a number, from the beginning of one life to its end; without a ``folder``, the number."""

    def __init__(self, folder: Path | None, number: int) -> None:
        self.number = number
        self._path = None if folder is None else _sign(folder, number)
        if self._path is not None:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def end(self) -> None:
        """This life is over."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._path = None


def lives(folder: Path, number: int) -> bool:
    """Whether whoever keeps the sign ``number`` is alive. What a dead one left is removed."""
    path = _sign(folder, number)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        if not _lock(descriptor, fcntl.LOCK_EX):
            return True
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(descriptor)


def _sign(folder: Path, number: int) -> Path:
    return folder / ".alive" / str(number)


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(database: Path, purpose: str) -> int:
    database.parent.mkdir(parents=True, exist_ok=True)
    return os.open(database.with_name(f".{database.name}.{purpose}"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
