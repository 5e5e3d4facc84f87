"""SQLite's errors as ours: what passes by itself, what lasts until somebody makes room, and what is damaged."""

import sqlite3

from webapp.errors import Conflict, Damaged, Unavailable, Unwritable

NO_ROOM_LEFT = "the disk is full"
_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_CAUSES = {
    sqlite3.SQLITE_FULL: NO_ROOM_LEFT,
    sqlite3.SQLITE_IOERR: "the disk failed to read or write",
    sqlite3.SQLITE_READONLY: "the database or its folder is read-only",
    sqlite3.SQLITE_PERM: "the database may not be written by this user",
    sqlite3.SQLITE_CANTOPEN: "the database cannot be opened",
}


def translation(error: BaseException) -> Unavailable | Conflict | None:
    """Our error for one of the database's; None where it is a fault of ours."""
    if isinstance(error, sqlite3.IntegrityError):
        return Conflict()
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _PASSING:
        return Unavailable()
    if code in _DAMAGED:
        return Damaged()
    return Unwritable.because(_CAUSES[code]) if code in _CAUSES else None


def is_busy(error: BaseException) -> bool:
    """Whether another process has the lock just now."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_BUSY
