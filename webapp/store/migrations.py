"""The schema, as append-only migrations: each file ``schema/m<number>_<noun>.sql`` is one, applied in order.

A new table needs only a new file. A comment above each table names the module that owns it. The SQL is portable: text
ids, no autoincrement, times as integer epoch milliseconds, booleans as 0 or 1, JSON as text. Sealed columns
(``…_sealed``) hold AES-256-GCM boxes of :mod:`webapp.service.domain.base.keyring`. A database records the names of the
migrations that were applied to it, and since m013 a checksum of each. A database that does not match this code is
refused with :class:`webapp.store.contract.WrongSchema` and left unchanged.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from sqlite_utils import Database, Migrations
from sqlite_utils.db import Table

from webapp.store.contract import WrongSchema

_FILE = re.compile(r"(m\d+_\w+)\.sql")
_COMMENT = re.compile(r"--[^\n]*")
_CHECKSUMS = "migration_checksums"
_Facts = set[tuple[Any, ...]]
RECORD = "INSERT INTO migration_checksums (name, sha256) VALUES (:name, :sha256)"


@dataclass(frozen=True)
class Migration:
    """A migration: the name and the SQL of one file."""

    name: str
    sql: str

    def apply(self, db: Database) -> None:
        """Run its statements within the open transaction."""
        for statement in self.sql.split(";\n"):
            if statement.strip():
                db.execute(statement)

    @cached_property
    def checksum(self) -> str:
        """The SHA-256 of its SQL without comments and line breaks, in hex."""
        return hashlib.sha256(" ".join(_COMMENT.sub(" ", self.sql).split()).encode()).hexdigest()


class Schema:
    """The migrations in a folder: applies them to a database and checks that it matches them."""

    def __init__(self, folder: Traversable) -> None:
        self.folder = folder
        names = sorted(file.name for file in folder.iterdir() if _FILE.fullmatch(file.name))
        migrations = [Migration(name.removesuffix(".sql"), (folder / name).read_text("utf-8")) for name in names]
        self._by_name = {migration.name: migration for migration in migrations}
        self._set = Migrations("patchbay")
        for migration in migrations:
            self._set(name=migration.name)(migration.apply)

    @property
    def names(self) -> list[str]:
        """The names of all migrations, in order."""
        return list(self._by_name)

    def migration(self, name: str) -> Migration:
        """The migration called ``name``."""
        return self._by_name[name]

    def applied(self, db: Database) -> list[str]:
        """The names of the migrations that were applied to ``db``, including unknown ones."""
        return [migration.name for migration in self._set.applied(db)]

    def pending(self, db: Database) -> list[str]:
        """The names of the migrations that were not applied to ``db`` yet."""
        return [migration.name for migration in self._set.pending(db)]

    def is_recorded(self, db: Database) -> bool:
        """Whether every migration was applied to ``db``, and recorded with its checksum. Raises :class:`WrongSchema` if
        one of them has changed since."""
        applied, checksums = self.applied(db), self._checksums(db)
        if not checksums.keys() >= self._by_name.keys() == set(applied):
            return False
        self.check_names(applied, checksums)
        return True

    def apply(self, db: Database) -> list[str]:
        """Apply the pending migrations, record their checksums and return their names. Raises :class:`WrongSchema`."""
        self.check(db)
        pending = self.pending(db)
        self._set.apply(db)
        if _table(db, _CHECKSUMS).exists():
            for name in self._by_name.keys() - self._checksums(db).keys():
                db.execute(RECORD, {"name": name, "sha256": self._by_name[name].checksum})
        return pending

    def check(self, db: Database, *, whole: bool = False) -> None:
        """Raise :class:`WrongSchema` if ``db`` was created by other migrations than these.

        Where ``db`` lacks a checksum, or with ``whole``, its tables are compared, too.
        """
        applied, checksums = self.applied(db), self._checksums(db)
        self.check_names(applied, checksums)
        if whole or not checksums.keys() >= set(applied):
            self._compare(db, applied)

    def check_names(self, applied: Sequence[str], checksums: Mapping[str, str]) -> None:
        """Raise :class:`WrongSchema` if a migration in ``applied`` is unknown or differs from ours."""
        if unknown := [name for name in applied if name not in self._by_name]:
            raise WrongSchema(
                f"The database was made by a newer version of Patchbay: this one does not know {_listed(unknown)}. "
                "Install that version, or restore a backup that was made before."
            )
        for name in applied:
            if checksums.get(name, self._by_name[name].checksum) != self._by_name[name].checksum:
                raise WrongSchema(
                    f"{self.folder / f'{name}.sql'} was changed after the database had been made with it. Install "
                    "Patchbay anew; a change of the schema is a file of its own."
                )

    def _compare(self, db: Database, applied: Iterable[str]) -> None:
        """Raise :class:`WrongSchema` unless ``db`` has the tables that the migrations ``applied`` create."""
        for table, (columns, indexes) in self._tables(tuple(applied)).items():
            if _columns(db, table) != columns or not _indexes(db, table) >= indexes:
                raise WrongSchema(
                    f"The table {table} is not as {_listed(self._about(table, applied))} left it: the database was "
                    "made by an early version of Patchbay, or changed by hand. Go back to that version, or begin "
                    "with an empty PATCHBAY_DATA."
                )

    @cache  # noqa: B019  # a schema lasts as long as its process
    def _tables(self, applied: tuple[str, ...]) -> dict[str, tuple[_Facts, _Facts]]:
        """The columns and the indexes of each table that the migrations ``applied`` create."""
        with Database(memory=True) as model:
            for name in applied:
                self._by_name[name].apply(model)
            return {table: (_columns(model, table), _indexes(model, table)) for table in model.table_names()}

    def _about(self, table: str, applied: Iterable[str]) -> list[str]:
        """Those of the migrations ``applied`` that create or change ``table``."""
        statement = re.compile(rf"^(CREATE|ALTER) TABLE {table}\b|^CREATE .* ON {table}\b", re.MULTILINE)
        return [name for name in applied if statement.search(self._by_name[name].sql)]

    def _checksums(self, db: Database) -> dict[str, str]:
        if not _table(db, _CHECKSUMS).exists():
            return {}
        return dict(db.execute(f"SELECT name, sha256 FROM {_CHECKSUMS}").fetchall())  # noqa: S608


def _columns(db: Database, table: str) -> _Facts:
    """The columns and foreign keys of ``table``; empty if there is no such table."""
    columns, keys = _table(db, table).columns, _table(db, table).foreign_keys
    return {column[1:] for column in columns} | {(key.columns, key.other_table, key.on_delete) for key in keys}


def _indexes(db: Database, table: str) -> _Facts:
    return {(index.name, index.unique, index.partial, *index.columns) for index in _table(db, table).indexes}


def _table(db: Database, name: str) -> Table:
    return db.table(name)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


SCHEMA = Schema(files("webapp.store") / "schema")
