"""The kinds of databases that an account may be of, each by its name in ``[test]`` of the app.

Their drivers are slow to import, so that each is imported once an account needs it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from webapp.service.outbound.databases.accounts import DatabaseAccount, DatabaseOutcome
from webapp.service.outbound.databases.rows import Rows, Table
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure


class Engine(Protocol):
    """What a kind of database can do."""

    @property
    def DEFAULT_PORT(self) -> int:
        """The port of a server unless its account names another."""

    def check(self, guard: Guard, account: DatabaseAccount, *, deadline_s: float = 10.0) -> DatabaseOutcome:
        """Whether the account works, told within `deadline_s` seconds."""

    def query(
        self, guard: Guard, account: DatabaseAccount, statement: str, params: Sequence[Any] = ()
    ) -> Rows | Failure:
        """Run a statement, committed when it succeeds; a Failure's sentence says why it did not."""

    def tables(self, guard: Guard, account: DatabaseAccount) -> tuple[Table, ...] | DatabaseOutcome:
        """The tables and views that the account sees, its own schema first; or why not."""


def _postgres() -> Engine:
    from webapp.service.outbound.databases import postgres_query

    return postgres_query


def _mysql() -> Engine:
    from webapp.service.outbound.databases import mysql_query

    return mysql_query


ENGINES: Mapping[str, Callable[[], Engine]] = {"mysql": _mysql, "postgres": _postgres}
