"""The sandbox's own SQLite file, numbered pages of its rows, and the secret beside it.

Each block opens a connection of its own and closes it, so any thread may use it and none is left open. A block
that writes is one ``BEGIN IMMEDIATE`` transaction. What the tables mean is left to the modules that own them.
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
    """``<data>/sandbox.db``, made and brought up to date when it is opened."""

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
        """A connection inside one write transaction: committed at the end, rolled back by an exception."""
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
    """Page ``page`` (from 1) of pages of ``per_page`` rows."""

    page: int = 1
    per_page: int = 20

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.per_page


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The rows of one window, and how many there are in all."""

    items: Sequence[T]
    window: Window
    total: int

    @property
    def pages(self) -> int:
        """How many pages there are; an empty list has one."""
        return max(1, -(-self.total // self.window.per_page))

    def to_json(self, item: Callable[[T], Any]) -> dict[str, Any]:
        """The page as the API answers it."""
        data = [item(row) for row in self.items]
        return {"data": data, "page": self.window.page, "per_page": self.window.per_page, "total": self.total}


def secret_of(data: pathlib.Path) -> bytes:
    """The 32 random bytes from which cookies and demonstration keys derive; kept in ``<data>/sandbox.key``.

    It stands outside the database, so that no key shown to people can be read from it.
    """
    data.mkdir(parents=True, exist_ok=True)
    path = data / "sandbox.key"
    if not path.exists():
        fresh = path.with_name(f"sandbox.key.{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_bytes(crypto.new_key())
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)  # unlike a rename it never replaces a key that another process just made
        fresh.unlink()
    return path.read_bytes()


@migrations()
def first_tables(db: Database) -> None:
    """Grants with their codes and tokens, projects with their tasks, webhooks, and what the receiver got."""
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
