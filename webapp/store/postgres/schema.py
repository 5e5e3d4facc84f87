"""The migrations of :mod:`webapp.store.migrations` on PostgreSQL, all or nothing.

The database remembers them in ``migration_checksums``, and so does it what stands beside them: the functions that our
SQL uses, the tables that are kept by months, and what the planner is to think of columns. Only who owns the tables can
apply one; whoever serves needs no more than to read and write rows.
"""

from typing import Protocol

from webapp.store.contract import NOTHING, Params
from webapp.store.migrations import RECORD, SCHEMA
from webapp.store.postgres import folding, month_tables, statistics
from webapp.store.postgres.sql import definitions

_FUNCTIONS = "functions_"
FUNCTIONS = f"{_FUNCTIONS}1"
"""Its number is another one as soon as :func:`folding.functions` says anything else."""
MONTHS = f"{_FUNCTIONS}months_1"
"""The same of :func:`webapp.store.postgres.month_functions.functions`. The tables have to be there before."""
STATISTICS = f"{_FUNCTIONS}statistics_1"
"""The same of :func:`webapp.store.postgres.statistics.statements`. It comes last, as the months do."""


class _Session(Protocol):
    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[object, ...]]: ...

    def run(self, sql: str, params: Params = NOTHING) -> int: ...

    def command(self, sql: str) -> str | None: ...


def pending(session: _Session) -> list[str]:
    """What the database lacks, in order. Raises :class:`WrongSchema` where it was made with other migrations."""
    checksums = _checksums(session)
    SCHEMA.check_names([name for name in checksums if not name.startswith(_FUNCTIONS)], checksums)
    names = [FUNCTIONS, *SCHEMA.names, MONTHS, STATISTICS]
    return [name for name in names if name not in checksums]


def apply(session: _Session) -> list[str]:
    """Apply what the database lacks, within the transaction that is open; the names. Raises :class:`WrongSchema`."""
    names = pending(session)
    for name in names:
        if name == MONTHS:
            month_tables.convert(session)
        elif name == STATISTICS:
            statistics.state(session)
        else:
            for statement in folding.functions() if name == FUNCTIONS else definitions(SCHEMA.migration(name).sql):
                session.command(statement)
    for name in names:
        sha256 = "" if name in (FUNCTIONS, MONTHS, STATISTICS) else SCHEMA.migration(name).checksum
        session.run(RECORD, {"name": name, "sha256": sha256})
    return names


def _checksums(session: _Session) -> dict[str, str]:
    ((exists,),) = session.tuples("SELECT to_regclass('migration_checksums') IS NOT NULL")
    if not exists:
        return {}
    return dict(session.tuples("SELECT name, sha256 FROM migration_checksums"))  # type: ignore[arg-type]
