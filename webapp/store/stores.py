"""The store that the settings name: PostgreSQL where there is an address of it, else the embedded one."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from webapp.errors import Invalid
from webapp.settings import Settings
from webapp.store import presence
from webapp.store.contract import Store
from webapp.store.sqlite import SQLiteStore


def open_store(settings: Settings) -> Store:
    """The store of ``settings``, to be closed by the caller; an embedded one is made when it is absent.

    Raises :class:`webapp.errors.Unavailable`.
    """
    if settings.database_url is None:
        return SQLiteStore(settings.database)
    from webapp.store.postgres.store import PostgresStore  # takes long to import, and only it needs psycopg

    return PostgresStore(settings.database_url, connections=settings.database_connections)


def exists(settings: Settings) -> bool:
    """Whether there can be anything in the store; of PostgreSQL only the database itself knows."""
    return settings.database_url is not None or settings.database.exists()


@contextmanager
def open_alone(settings: Settings) -> Iterator[Store]:
    """The store, which no other process has open. Raises :class:`webapp.errors.Conflict` where one has.

    Who else has a PostgreSQL database open cannot be seen here: the caller looks for generations that are alive.
    """
    if settings.database_url is not None:
        with closing(open_store(settings)) as store:
            yield store
        return
    with presence.alone(settings.database), closing(SQLiteStore(settings.database, alone=True)) as embedded:
        yield embedded


def refuse_server(settings: Settings, sentence: str) -> None:
    """Raise :class:`Invalid` with ``sentence`` where the store is not the embedded one."""
    if settings.database_url is not None:
        raise Invalid(sentence)
