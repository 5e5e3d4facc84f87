"""Opens the store that the settings select: PostgreSQL if ``database_url`` is set, else the embedded SQLite file."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from webapp.errors import Invalid
from webapp.settings import Settings
from webapp.store import lock_files
from webapp.store.contract import Store
from webapp.store.sqlite import SQLiteStore


def open_store(settings: Settings) -> Store:
    """The store of ``settings``, which the caller closes; an embedded database is created if it does not exist.

    Raises :class:`webapp.errors.Unavailable`.
    """
    if settings.database_url is None:
        return SQLiteStore(settings.database)
    from webapp.store.postgres.store import PostgresStore  # slow to import, and only PostgreSQL needs psycopg

    return PostgresStore(
        settings.database_url,
        connections=settings.database_connections,
        timeline_file=settings.data / "timeline.json",
    )


def exists(settings: Settings) -> bool:
    """Whether the store may have data; for PostgreSQL always True, because only the database knows."""
    return settings.database_url is not None or settings.database.exists()


def wait_for_old_version(settings: Settings) -> None:
    """If migrations are pending, wait for the end of the processes that have the embedded database open."""
    if settings.database_url is not None or not settings.database.exists():
        return
    with closing(open_store(settings)) as store:
        is_pending = bool(store.pending())
    if is_pending:
        with lock_files.exclusive(settings.database, wait=True):
            pass


@contextmanager
def open_alone(settings: Settings) -> Iterator[Store]:
    """Open the store exclusively. Raises :class:`webapp.errors.Conflict` if another process has it open.

    For PostgreSQL this is not checked: the caller checks that no other process is alive.
    """
    if settings.database_url is not None:
        with closing(open_store(settings)) as store:
            yield store
        return
    with lock_files.exclusive(settings.database), closing(SQLiteStore(settings.database, exclusive=True)) as embedded:
        yield embedded


def refuse_server(settings: Settings, sentence: str) -> None:
    """Raise :class:`Invalid` with ``sentence`` if the store is PostgreSQL."""
    if settings.database_url is not None:
        raise Invalid(sentence)
