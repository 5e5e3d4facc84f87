"""Lock files beside the embedded database, which the kernel releases when their holders die.

Every process that has the database open shares one lock; a process that replaces the file or its keys holds it
exclusively. (SQLite's own locks last for a transaction, so they cannot tell.) Further locks make sure that one process
does the work that is due, one answers requests and one takes mail. And every process keeps a lock under its own number,
so that others know at once when it has died.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from webapp.errors import Conflict, Unavailable

PATIENCE_S = 15.0  # longer than a service may take to end


def share(database: Path) -> int:
    """Share the database: return a descriptor to close at the end; forks share it.

    Raises :class:`Unavailable` while a process holds the database exclusively.
    """
    descriptor = _open(database, "in-use")
    if not _lock(descriptor, fcntl.LOCK_SH):
        os.close(descriptor)
        raise Unavailable("The database or its key is being replaced; try again in a moment.")
    return descriptor


@contextmanager
def exclusive(database: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the database exclusively. With ``wait``, wait for the end of the others.

    Raises :class:`Conflict` if other processes have it open.
    """
    descriptor = _open(database, "in-use")
    try:
        if wait:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        elif not _lock(descriptor, fcntl.LOCK_EX):
            raise Conflict(f"Patchbay is running on {database.parent}; stop it first.")
        yield
    finally:
        os.close(descriptor)


class RoleLock:
    """A lock that one process at a time holds, until it and its forks have ended or released it.

    A database on a server (None) is shared by several machines, and needs no such lock.
    """

    _purpose: str
    _words: str

    def __init__(self, database: Path | None, *, patience_s: float = PATIENCE_S, wait: bool = True) -> None:
        """Acquire the lock, after waiting for a holder that is ending. Without ``wait``, call :meth:`acquire` later.

        Raises :class:`Conflict` if it is held.
        """
        self._descriptor: int | None = None
        self._owner = os.getpid()
        self.is_succession = False  # whether the holder before was still ending, or was killed
        if database is None:
            return
        self._folder = database.parent
        self._descriptor = _open(database, self._purpose)
        try:
            self.acquire(patience_s if wait else 0.0, in_vain=not wait)
        except BaseException:
            self.close()
            raise

    def acquire(
        self, patience_s: float = PATIENCE_S, *, in_vain: bool = False, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        """Acquire the lock for the process that made this object, and its forks.

        Raises :class:`Conflict` if it is held, or if a holder that is ending still has it after ``patience_s`` seconds;
        but not if it may be ``in_vain``, or was ``stopped``.
        """
        if self._descriptor is None:
            return
        ends = time.monotonic() + patience_s
        self.is_succession = self._was_killed()
        while not _lock(self._descriptor, fcntl.LOCK_EX):
            holder, self.is_succession = self._holder()
            is_over = time.monotonic() >= ends
            if self.is_succession and (stopped() or (is_over and in_vain)):
                return
            if not self.is_succession or is_over:
                raise Conflict(self._words.format(folder=self._folder, holder=holder))
            time.sleep(0.05)
        self._write("works")

    def announce_end(self) -> None:
        """Announce that this process is ending, so that the next one waits for the lock. Safe in a signal handler."""
        with suppress(OSError):
            self._write("ends")

    def close(self) -> None:
        """Release the lock, as far as this process is concerned. Safe in a signal handler."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _write(self, state: str) -> None:
        if self._descriptor is not None:
            os.pwrite(self._descriptor, f"{self._owner} {state}".ljust(40).encode(), 0)

    def _was_killed(self) -> bool:
        """Whether the process that held it last ended without announcing that."""
        holder, _, state = self._text().partition(" ")
        return state.strip() == "works" and not _process_exists(holder)

    def _text(self) -> str:
        return os.pread(self._descriptor or 0, 40, 0).decode("ascii", "replace")

    def _holder(self) -> tuple[str, bool]:
        """The process that holds the lock, and whether it is ending: it said so, or it died before its forks."""
        holder, _, state = self._text().partition(" ")
        return holder or "unknown", state.strip() == "ends" or not _process_exists(holder)


class WorkerLock(RoleLock):
    """The lock of the worker."""

    _purpose = "worker"
    _words = (
        "Patchbay already runs on {folder} (process {holder}); stop it first, or set PATCHBAY_DATA to another folder."
    )


class WebLock(RoleLock):
    """The lock of the process that starts the web processes."""

    _purpose = "web"
    _words = (
        "Patchbay already answers from {folder} (process {holder}); stop it first. For several web processes set "
        "PATCHBAY_WEB."
    )


class MailLock:
    """The lock of the worker that takes mail for a data folder; the others try to acquire it until it is free."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Acquire the lock; False while another process holds it."""
        if self._descriptor is None:
            self._descriptor = _open(self._database, "mail")
        return _lock(self._descriptor, fcntl.LOCK_EX)

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def without_worker(database: Path) -> Iterator[bool]:
    """Whether no process holds the worker's lock; if so, none can acquire it within the block."""
    descriptor = _open(database, "worker")
    try:
        yield _lock(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


class LifeLock:
    """A file that the process ``number`` locks from its start to its end; without a ``folder``, only the number."""

    def __init__(self, folder: Path | None, number: int) -> None:
        self.number = number
        self._path = None if folder is None else _life_file(folder, number)
        if self._path is not None:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def end(self) -> None:
        """Release the lock and remove the file."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._path = None


def is_alive(folder: Path, number: int) -> bool:
    """Whether the process that holds the life lock ``number`` is alive. The file of a dead one is removed."""
    path = _life_file(folder, number)
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


def _life_file(folder: Path, number: int) -> Path:
    return folder / ".alive" / str(number)


def _process_exists(process: str) -> bool:
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
