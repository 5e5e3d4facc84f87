"""The sandbox's SQLite file with its tables, numbered pages of rows, and the installation's secret.

Each ``read`` or ``write`` block opens and closes its own connection, so any thread may use the store. A ``write`` block
is one ``BEGIN IMMEDIATE`` transaction. What the rows mean is left to the modules that own the tables.
"""

import contextlib
import os
import pathlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlite_utils import Database, Migrations

from webapp.kit import crypto
from webapp.kit.text import holds

T = TypeVar("T")
BUSY_SECONDS = 10
MAX_PER_PAGE = 100
MAX_PAGE = 1_000_000
migrations = Migrations("sandbox")


class Store:
    """The database ``<data>/sandbox.db``, created or migrated when it is opened."""

    def __init__(self, data: pathlib.Path) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self._path = data / "sandbox.db"
        self._path.touch(mode=0o600)
        with self._connect() as db:
            db.enable_wal()
            migrations.apply(db)

    @contextlib.contextmanager
    def read(self) -> Iterator[Database]:
        """A connection for one or more reads."""
        with self._connect() as db:
            yield db

    @contextlib.contextmanager
    def write(self) -> Iterator[Database]:
        """A connection in a write transaction, which commits at the end and rolls back on an exception."""
        with self._connect() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.rollback()
                raise
            db.commit()

    @contextlib.contextmanager
    def _connect(self) -> Iterator[Database]:
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)
        with contextlib.closing(connection):
            connection.execute("PRAGMA foreign_keys = ON")
            connection.create_function("holds", 2, holds, deterministic=True)
            yield Database(connection)


@dataclass(frozen=True, slots=True)
class Window:
    """The numbers that select one page: ``page``, from 1, and ``per_page`` rows."""

    page: int = 1
    per_page: int = 20

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.per_page


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The rows of one page, and the number of rows of all pages."""

    items: Sequence[T]
    window: Window
    total: int

    @property
    def pages(self) -> int:
        """The number of pages, at least 1."""
        return max(1, -(-self.total // self.window.per_page))

    def to_json(self, item: Callable[[T], Any]) -> dict[str, Any]:
        """The page, as the API returns it."""
        data = [item(row) for row in self.items]
        return {"data": data, "page": self.window.page, "per_page": self.window.per_page, "total": self.total}


def secret_of(data: pathlib.Path) -> bytes:
    """The 32 random bytes from which cookie and API keys are derived, created on first use.

    They are in ``<data>/sandbox.key`` and not in the database, so the database does not reveal the keys.
    """
    data.mkdir(parents=True, exist_ok=True)
    path = data / "sandbox.key"
    if not path.exists():
        fresh = path.with_name(f"sandbox.key.{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_bytes(crypto.new_key())
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)  # unlike a rename, it never replaces a key that another process has just created
        fresh.unlink()
    return path.read_bytes()


@migrations()
def first_tables(db: Database) -> None:
    """Create the tables of grants, codes, tokens, projects, tasks, webhooks and received requests."""
    when = {"created_at": int, "exchanged_at": int, "refreshed_at": int, "revoked_at": int}
    grants = _columns("id", "client_id", "person_id", "scope", "behaviour", "revoked_why", **when)
    db.table("grants").create(grants, pk="id")
    once = {"expires_at": int, "used_at": int}
    for name, columns in (("codes", ("redirect_uri", "challenge")), ("tokens", ("kind", "scope"))):
        table = db.table(name).create(_columns("hash", "grant_id", *columns, **once), pk="hash")
        table.add_foreign_key("grant_id", "grants", "id")
    db.table("projects").create(_columns("id", "name", "fields"), pk="id")
    texts = ("id", "project_id", "person_id", "title", "notes", "due", "fields")
    tasks = db.table("tasks").create(_columns(*texts, done=int, created_at=int, updated_at=int), pk="id")
    for index in (["created_at"], ["updated_at"], ["project_id", "created_at"]):
        tasks.create_index(index)
    texts = ("id", "person_id", "grant_id", "project_id", "url", "event", "last_status")
    db.table("webhooks").create(_columns(*texts, created_at=int, last_at=int), pk="id")
    db.table("receivers").create(_columns("path", "answer", sealed_key=bytes), pk="path")
    received = _columns("path", "method", "target", "headers", id=int, body=bytes, at=int)
    db.table("received").create(received, pk="id")


def _columns(*texts: str, **others: type) -> dict[str, type]:
    return dict.fromkeys(texts, str) | others
