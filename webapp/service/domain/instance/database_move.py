"""Moves an installation to another database, PostgreSQL or an embedded one, while nothing runs on either.

Sealed values stay sealed: the instance key, the operator's own apps and the catalog are not moved.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from webapp.errors import Conflict, Invalid, Unavailable
from webapp.kit.clock import Clock
from webapp.service.domain.base import generations
from webapp.service.domain.instance import backups
from webapp.setting_values import database as read_address
from webapp.settings import Settings
from webapp.store.contract import Store
from webapp.store.migrations import SCHEMA
from webapp.store.move import Checksum, move, refuse_unfinished
from webapp.store.stores import exists, open_alone


def carry_over(settings: Settings, target: Settings, clock: Clock, say: Callable[[str], None]) -> dict[str, Checksum]:
    """Copy the database of ``settings`` into that of ``target``, or continue an interrupted copy; return the number
    of rows by table.

    Raises :class:`Invalid`, :class:`Conflict` while Patchbay runs or if ``target`` has other data,
    :class:`Unavailable`.
    """
    if place(settings) == place(target):
        raise Invalid("This is the database that is in use already; name another one.")
    if not exists(settings):
        raise Invalid(f"There is no database in {settings.data}; check PATCHBAY_DATA.")
    if settings.database_url is None:
        backups.finish(settings.data)
    with open_alone(settings) as source, _opened(target) as store:
        if source.pending():
            raise Conflict("The database to move is of an earlier version; run `patchbay migrate` on it first.")
        refuse_unfinished(source)
        _migrate(store)
        for each in (source, store):
            generations.refuse_living(each, clock)
        return move(source, store, say)


def target_of(settings: Settings, destination: str) -> Settings:
    """The settings with ``destination`` as their database: an address of PostgreSQL, or a folder.

    Raises :class:`webapp.settings.BadSetting` for an address that is none.
    """
    if "://" in destination:
        return replace(settings, database_url=read_address("--to", destination))
    return replace(settings, database_url=None, data=Path(destination).absolute())


def place(settings: Settings) -> str:
    """The address of the database without the password."""
    if settings.database_url is None:
        return str(settings.database)
    parts = urlsplit(settings.database_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@contextmanager
def _opened(target: Settings) -> Iterator[Store]:
    with ExitStack() as stack:
        try:
            store = stack.enter_context(open_alone(target))
        except Unavailable as error:
            raise Unavailable(error.message.replace("PATCHBAY_DATABASE_URL", "--to")) from error
        yield store


def _migrate(target: Store) -> None:
    """Create the tables in an empty database. Raises :class:`Conflict` if they are of an earlier version."""
    pending = set(target.pending())
    if pending and not pending >= set(SCHEMA.names):
        raise Conflict(
            "The database to move to is of an earlier version; run `patchbay migrate` on it, or name an empty one."
        )
    target.migrate()
