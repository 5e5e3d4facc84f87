"""PostgreSQL's errors as ours, by the classes of its error codes (appendix A of its manual)."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from webapp.errors import Conflict, Damaged, Unavailable, Unwritable

_CAUSES = {
    "53100": "the disk of the database is full",
    "25006": "the database is read-only",
    "42501": "the user in PATCHBAY_DATABASE_URL may not write there",
}
_SILENT = "25P03"  # whoever held the lock did nothing for too long
_DAMAGED = frozenset({"XX001", "XX002"})
_PASSING = ("08", "40", "53", "55", "57", "58")
"""Connections, deadlocks, resources, locks, an operator who stops it, its system."""


def translation(error: BaseException) -> Unavailable | Conflict | None:
    """Our error for one of the database's; None where it is a fault of ours.

    A connection that is lost while it commits is :class:`Unavailable` as well: nobody knows whether that succeeded.
    """
    if isinstance(error, PoolTimeout | PoolClosed | TooManyRequests):
        return Unavailable()
    if not isinstance(error, psycopg.Error):
        return None
    state = error.sqlstate or ""
    if isinstance(error, psycopg.IntegrityError):
        return Conflict()
    if state in _CAUSES:
        return Unwritable.because(_CAUSES[state])
    if state in _DAMAGED:
        return Damaged()
    if state == _SILENT or state[:2] in _PASSING or (not state and isinstance(error, psycopg.OperationalError)):
        return Unavailable()
    return None


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's exceptions into ours. One that says that our SQL is wrong stays what it is."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed, TooManyRequests) as error:
        ours = translation(error)
        if ours is None:
            raise
        raise ours from error
