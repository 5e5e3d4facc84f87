"""Maps tables to frozen dataclasses, and keeps exact counts of rows.

A :class:`Table` generates INSERT, UPDATE and the column list of SELECT from a dataclass, and turns rows into its
records. Conditions are written by hand. Each table has one owner module, which keeps its ``Table`` private and offers
functions to others. A field maps to the column of the same name: text, numbers and bytes are stored as they are,
``bool`` as 0 or 1, an ``Enum`` by its value; tuples, lists and mappings as JSON. The fields of a nested record are
columns of the same table. Where COUNT would become slow, the transaction that adds or removes a row also updates an
exact count in the table ``counters``.
"""

import dataclasses
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Generic, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import orjson

from webapp.kit import cursors
from webapp.store.contract import NOTHING, Params, Reader, Tx

T = TypeVar("T")
Values = Sequence[Any]
Convert = Callable[[Any], Any]
_JSON_KINDS = (list, dict, Mapping, Sequence)


class Column(NamedTuple):
    """A column: ``get`` takes its value from a record; ``write`` and ``read`` convert it for and from the database."""

    name: str
    get: Convert
    read: Convert | None
    write: Convert | None


def columns(record: type[Any], path: str = "") -> list[Column]:
    """The columns of ``record``, in the order of its fields. Raises ``TypeError`` for an unsupported field type."""
    table_columns = []
    for name, hint in _fields(record).items():
        if _is_record(hint):
            table_columns += columns(hint, f"{path}{name}.")
        else:
            table_columns.append(Column(name, attrgetter(path + name), *_conversion(hint)))
    return table_columns


def maker(record: type[T]) -> Callable[[Values], T]:
    """A function that makes a record from the values of its columns, in the order of :func:`columns`."""
    reads, nested = list[tuple[int, Convert]](), list[tuple[int, int, Callable[[Values], Any]]]()
    position = 0
    for hint in _fields(record).values():
        width = len(columns(hint)) if _is_record(hint) else 1
        if _is_record(hint):
            nested.insert(0, (position, position + width, maker(hint)))  # in reverse, for the slices below
        elif (read := _conversion(hint)[0]) is not None:
            reads.append((position, read))
        position += width
    if not reads and not nested:
        return lambda values: record(*values)

    def make(values: Values) -> T:
        changed = list(values)
        for position, read in reads:
            changed[position] = read(changed[position])
        for start, end, make_nested in nested:  # replacing a slice shifts only what is after it
            changed[start:end] = (make_nested(changed[start:end]),)
        return record(*changed)

    return make


def _fields(record: type[Any]) -> dict[str, Any]:
    """The fields of a record and their types."""
    hints = get_type_hints(record)
    if not dataclasses.is_dataclass(record):
        return hints
    names = [field.name for field in dataclasses.fields(record)]
    return {name: hints[name] for name in names}


def _is_record(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")


def _conversion(hint: Any) -> tuple[Convert | None, Convert | None]:
    """The functions that read and write a value of the type ``hint``; None where it needs no conversion."""
    kind = get_origin(hint) or hint
    if kind in (Union, UnionType):
        (inner,) = {_conversion(option) for option in get_args(hint) if option is not NoneType}
        read, write = inner
        return _unless_none(read), _unless_none(write)
    if kind in (str, int, float, bytes, Literal):
        return None, None
    if kind is bool:
        return bool, int
    if kind is tuple:
        return _read_tuple, _write_json
    if kind in _JSON_KINDS:
        return _read_json, _write_json
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind, attrgetter("value")
    raise TypeError(f"no column holds a value of the type {hint}")


def _unless_none(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _read_tuple(text: str) -> tuple[Any, ...]:
    return tuple(_read_json(text))


def _read_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # an escaped half of a surrogate pair
        return json.loads(text)


def _write_json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=dict).decode()
    except TypeError:  # an integer beyond 64 bits, or half a surrogate pair, which is escaped
        return json.dumps(value, default=dict)


def indexed_condition(
    scope: Mapping[str, Any], filters: Mapping[str, Any], alone: Collection[str] = ()
) -> tuple[str, dict[str, Any]]:
    """A condition for the rows of ``scope`` that makes the database use one index, and its parameters by column.

    ``filters`` are ordered from the most to the least selective. The first that is not None is looked up in an index,
    which starts with the columns of ``scope`` unless the filter is one of ``alone``. The other filters are written so
    that no index can answer them, and are checked on the rows found: without statistics, a query planner would choose
    an index by its number of columns, and might read the whole scope.
    """
    values = {column: value for column, value in filters.items() if value is not None}
    first = next(iter(values), None)
    looked_up = {first} if first in alone else {first, *scope}
    params = {**scope, **values}
    conditions = [f"{name} = :{name}" if name in looked_up else _checked(name, value) for name, value in params.items()]
    return " AND ".join(conditions), params


def _checked(column: str, value: Any) -> str:
    """The condition in a form that no index can answer."""
    return f"{column} + 0 = :{column}" if isinstance(value, int) else f"COALESCE({column}, '') = :{column}"


class Rows(Generic[T]):
    """Reads the rows of one table as records of the dataclass (or ``NamedTuple``) ``record``.

    ``key`` is the column that identifies a row.
    """

    def __init__(self, name: str, record: type[T], *, key: str = "id") -> None:
        """Raises ``TypeError`` for a record with a field that no column can hold."""
        self.name, self.key = name, key
        self.fields = columns(record)
        self.columns = ", ".join(column.name for column in self.fields)
        self.make = maker(record)
        self._select = f"SELECT {self.columns} FROM {name} WHERE "  # noqa: S608
        self._get = f"{self._select}{key} = :key"

    def get(self, reader: Reader, key: str) -> T | None:
        """The record with ``key``, or None."""
        rows = reader.tuples(self._get, {"key": key})
        return self.make(rows[0]) if rows else None

    def one(self, reader: Reader, where: str, params: Params = NOTHING) -> T | None:
        """The first record that meets ``where``, or None; ``where`` may end with ORDER BY and LIMIT."""
        rows = reader.tuples(self._select + where, params)
        return self.make(rows[0]) if rows else None

    def all(self, reader: Reader, where: str, params: Params = NOTHING) -> list[T]:
        """All records that meet ``where``, as in :meth:`one`."""
        return list(map(self.make, reader.tuples(self._select + where, params)))

    def count(self, reader: Reader, where: str, params: Params = NOTHING) -> int:
        """How many rows meet ``where``."""
        return int(reader.tuples(f"SELECT COUNT(*) FROM {self.name} WHERE {where}", params)[0][0])  # noqa: S608

    def page(
        self,
        reader: Reader,
        window: cursors.Window,
        where: str,
        params: Params = NOTHING,
        *,
        order: tuple[str, str] = ("created_at", "id"),
        descending: bool = False,
        total: int | None = None,
    ) -> cursors.Page[T]:
        """A page of the records that meet ``where``, ordered by two fields that are unique together.

        ``total`` is the number of all these records, if it is known without counting them. Raises
        :class:`webapp.kit.cursors.BadCursor`.
        """
        mark = cursors.fingerprint(self.name, where, dict(params))
        plan = cursors.keyset(window, mark, order, descending=descending)
        rows = self.all(
            reader,
            f"{where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",
            {**params, **plan.params, "limit": plan.limit},
        )
        count = self.count(reader, where, params) if total is None else total
        return cursors.page(rows, window, plan, mark, attrgetter(*order), count)


class Table(Rows[T]):
    """Reads and writes one table, for the module that owns it.

    ``write_only`` are columns that are written with a record and never read into one, such as the hash of a secret.
    """

    def __init__(self, name: str, record: type[T], *, key: str = "id", write_only: Sequence[str] = ()) -> None:
        """Raises ``TypeError`` for a record with a field that no column can hold."""
        super().__init__(name, record, key=key)
        self._written = {column.name: column for column in self.fields}
        names = (*self._written, *write_only)
        self._insert = f"INSERT INTO {name} ({', '.join(names)}) VALUES ({', '.join(f':{n}' for n in names)})"  # noqa: S608
        self._delete = f"DELETE FROM {name} WHERE {key} = :key"  # noqa: S608
        self._updates: dict[tuple[str, ...], str] = {}
        self._upserts: dict[tuple[str, ...], str] = {}

    def insert(self, tx: Tx, record: T, **write_only: Any) -> None:
        """Insert ``record``. Raises :class:`webapp.errors.Conflict` if its key exists already."""
        tx.run(self._insert, {**self.values(record), **write_only})

    def upsert(self, tx: Tx, record: T, *, keep: Sequence[str] = ("created_at",), **write_only: Any) -> None:
        """Insert ``record``, or update the row with its key except for the columns ``keep``."""
        values = {**self.values(record), **write_only}
        kept = (self.key, *keep)
        sql = self._upserts.get(kept)
        if sql is None:
            changes = ", ".join(f"{name} = excluded.{name}" for name in values if name not in kept)
            sql = self._upserts[kept] = f"{self._insert} ON CONFLICT ({self.key}) DO UPDATE SET {changes}"
        tx.run(sql, values)

    def update(self, tx: Tx, key: str, /, **changes: Any) -> int:
        """Set the columns in ``changes`` of the row ``key``. Returns the number of rows, 0 or 1."""
        names = tuple(changes)
        sql = self._updates.get(names)
        if sql is None:
            assignments = ", ".join(f"{name} = :{name}" for name in names)
            sql = self._updates[names] = f"UPDATE {self.name} SET {assignments} WHERE {self.key} = :key_"  # noqa: S608
        return tx.run(sql, {**self.to_columns(changes), "key_": key})

    def delete(self, tx: Tx, key: str) -> int:
        """Delete the row ``key``. Returns the number of rows, 0 or 1."""
        return tx.run(self._delete, {"key": key})

    def values(self, record: T) -> dict[str, Any]:
        """The values of ``record`` by column, as they are stored."""
        return {
            column.name: column.get(record) if column.write is None else column.write(column.get(record))
            for column in self.fields
        }

    def to_columns(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """``values`` by column, as they are stored."""
        return {name: self._as_column(name, value) for name, value in values.items()}

    def _as_column(self, name: str, value: Any) -> Any:
        column = self._written.get(name)
        return value if column is None or column.write is None else column.write(value)


_ADD_TO_COUNT = (
    "INSERT INTO counters (name, n) VALUES (:name, :by) ON CONFLICT (name) DO UPDATE SET n = counters.n + excluded.n"
)


def add_to_counts(tx: Tx, names: Iterable[str], by: int) -> None:
    """Add ``by`` to each of the counts ``names``."""
    for name in names:
        tx.add(_ADD_TO_COUNT, {"name": name}, by)


def read_counts(reader: Reader, *names: str) -> dict[str, int]:
    """The counts ``names`` that exist, by name."""
    params = {f"name_{number}": name for number, name in enumerate(names)}
    return dict(reader.tuples(f"SELECT name, n FROM counters WHERE name IN (:{', :'.join(params)})", params))  # noqa: S608


def most_counted(reader: Reader, prefix: str) -> int:
    """The largest count whose name starts with ``prefix``, or 0."""
    sql = "SELECT COALESCE(MAX(n), 0) FROM counters WHERE name >= :low AND name < :high"
    return int(reader.tuples(sql, {"low": prefix, "high": prefix + "\U0010ffff"})[0][0])


def drop_counts(tx: Tx, prefix: str) -> None:
    """Delete the counts whose names start with ``prefix``, such as those of a deleted project."""
    tx.run("DELETE FROM counters WHERE name >= :low AND name < :high", {"low": prefix, "high": prefix + "\U0010ffff"})
