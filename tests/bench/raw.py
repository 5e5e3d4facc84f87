"""The raw yardstick of ``make bench``: the SQL that an operation runs, noted, then run by ``sqlite3`` alone."""

import shutil
import sqlite3
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from tests.bench.calls import Operation, Request
from tests.bench.meter import ROUNDS
from webapp.app import create_app
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings
from webapp.store.contract import NOTHING, Params, Row, Store, Tx

Statement = tuple[str, dict[str, Any]]


class _Noted:
    """A transaction that notes what it is asked."""

    def __init__(self, tx: Tx, notes: list[Statement]) -> None:
        self._tx, self._notes = tx, notes

    @property
    def shared(self) -> bool:
        return self._tx.shared

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        self._notes.append((sql, dict(params)))
        return self._tx.all(sql, params)

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        self._notes.append((sql, dict(params)))
        return self._tx.one(sql, params)

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        self._notes.append((sql, dict(params)))
        return self._tx.tuples(sql, params)

    def run(self, sql: str, params: Params = NOTHING) -> int:
        self._notes.append((sql, dict(params)))
        return self._tx.run(sql, params)

    def add(self, sql: str, params: Params, by: int) -> None:
        self.run(sql, {**params, "by": by})

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        self._tx.load(table, columns, rows)


class NotingStore:
    """A store that notes every statement in ``notes`` and leaves all else to the one behind it."""

    def __init__(self, store: Store) -> None:
        self.notes: list[Statement] = []
        self._store = store

    def all(self, sql: str, params: Params = NOTHING) -> list[Row]:
        """Noted, then the store's own."""
        self.notes.append((sql, dict(params)))
        return self._store.all(sql, params)

    def one(self, sql: str, params: Params = NOTHING) -> Row | None:
        """Noted, then the store's own."""
        self.notes.append((sql, dict(params)))
        return self._store.one(sql, params)

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[Any, ...]]:
        """Noted, then the store's own."""
        self.notes.append((sql, dict(params)))
        return self._store.tuples(sql, params)

    @contextmanager
    def write(self, *, shared: bool = False) -> Iterator[Tx]:
        """Noted with its beginning and its end, then the store's own."""
        self.notes.append(("BEGIN IMMEDIATE", {}))
        with self._store.write(shared=shared) as tx:
            yield _Noted(tx, self.notes)
        self.notes.append(("COMMIT", {}))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def measure(settings: Settings, table: Sequence[Operation], copy: Path, count: int) -> list[float]:
    """The cost of each operation's SQL by sqlite3 alone, in CPU milliseconds, on a ``copy`` of the database."""
    service = open_service(settings)
    noting = NotingStore(service.store)
    noted_service = replace(service, store=noting)
    try:
        service.store.checkpoint()
        shutil.copyfile(settings.data / "patchbay.db", copy)
        client = create_app(settings, service=noted_service).test_client()
        costs = []
        for operation in table:
            noted = []
            for _ in range(ROUNDS * count):
                noting.notes.clear()
                _ask(client, operation.next(), settings)
                noted.append(list(noting.notes))
            costs.append(_replay_ms(copy, noted, ROUNDS))
        return costs
    finally:
        oauth_clients.flush_uses(noted_service)
        close_service(service)


def _ask(client: FlaskClient, wanted: Request, settings: Settings) -> None:
    answer = client.open(
        wanted.path, method=wanted.method, headers=dict(wanted.headers), data=wanted.body, base_url=settings.public_url
    )
    if answer.status_code != wanted.status:
        raise RuntimeError(f"{wanted.method} {wanted.path} answered {answer.status}: {answer.data[:300]!r}")


def _replay_ms(database: Path, requests: Sequence[Sequence[Statement]], rounds: int) -> float:
    """CPU milliseconds that the statements of one request take on ``database``; the median of a few rounds.

    ``database`` is a copy from before the requests were noted, so that what they wrote can be written again.
    """
    each = len(requests) // rounds
    spent = []
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        for number in range(rounds):
            began = time.process_time()
            for request in requests[number * each : (number + 1) * each]:
                for sql, params in request:
                    connection.execute(sql, params).fetchall()
            spent.append(time.process_time() - began)
    return statistics.median(spent) / each * 1000
