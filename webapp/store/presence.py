"""Who has a database open: a lock file beside it, which the kernel gives back when its holder dies.

Everybody who has the database open is present; whoever must be the only one, to replace the file or its keys, is
alone. The two exclude each other. (SQLite's own locks are held for single transactions, so they cannot tell.)
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webapp.errors import Conflict, Unavailable


def arrive(database: Path) -> int:
    """Be present: a descriptor to close on leaving; forks share it. Raises :class:`Unavailable` while one is alone."""
    descriptor = _open(database)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise Unavailable("The database or its key is being replaced; try again in a moment.") from error
    return descriptor


@contextmanager
def alone(database: Path, *, wait: bool = False) -> Iterator[None]:
    """Be the only one. Raises :class:`Conflict` when others are present, unless told to ``wait`` for their end."""
    descriptor = _open(database)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(f"Patchbay is running on {database.parent}; stop it first.") from error
        yield
    finally:
        os.close(descriptor)


def _open(database: Path) -> int:
    database.parent.mkdir(parents=True, exist_ok=True)
    return os.open(database.with_name(f".{database.name}.in-use"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
