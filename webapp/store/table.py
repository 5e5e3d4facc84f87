"""Tables and their rows: a table is declared once, as a frozen dataclass, and the SQL of its columns follows from that.

A :class:`Table` writes the INSERT, the UPDATE of named columns and the column list of SELECT, and turns rows into
records. Conditions stay hand-written SQL. Each table belongs to one module, which keeps its ``Table`` to itself and
offers verbs to others.

A field is the column of its name: text, numbers and bytes as they are, ``bool`` as 0 or 1, an ``Enum`` by its value,
tuples, lists and mappings as JSON. A record within a record stands for its columns.

Where COUNT would grow with a table, an exact count (table ``counters``) is kept in the transaction that adds or removes
a row.
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
    """A column: how its value is taken from a record, and what turns it into the database's value and back."""

    name: str
    get: Convert
    read: Convert | None
    write: Convert | None


def columns(record: type[Any], path: str = "") -> list[Column]:
    """The columns of ``record``, in the order of its fields. Raises ``TypeError`` for a field that no column holds."""
    table_columns = []
    for name, hint in _fields(record).items():
        if _is_record(hint):
            table_columns += columns(hint, f"{path}{name}.")
        else:
            table_columns.append(Column(name, attrgetter(path + name), *_conversion(hint)))
    return table_columns


def maker(record: type[T]) -> Callable[[Values], T]:
    """What makes a record of the values of its columns, which come in the order of :func:`columns`."""
    reads, nested = list[tuple[int, Convert]](), list[tuple[int, int, Callable[[Values], Any]]]()
    position = 0
    for hint in _fields(record).values():
        width = len(columns(hint)) if _is_record(hint) else 1
        if _is_record(hint):
            nested.insert(0, (position, position + width, maker(hint)))  # from the last to the first, see below
        elif (read := _conversion(hint)[0]) is not None:
            reads.append((position, read))
        position += width
    if not reads and not nested:
        return lambda values: record(*values)

    def make(values: Values) -> T:
        changed = list(values)
        for position, read in reads:
            changed[position] = read(changed[position])
        for start, end, make_nested in nested:  # each shortens the list behind itself
            changed[start:end] = (make_nested(changed[start:end]),)
        return record(*changed)

    return make


def _fields(record: type[Any]) -> dict[str, Any]:
    """The fields that a record is made of, with their types."""
    hints = get_type_hints(record)
    if not dataclasses.is_dataclass(record):
        return hints
    names = [field.name for field in dataclasses.fields(record)]
    return {name: hints[name] for name in names}


def _is_record(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")


def _conversion(hint: Any) -> tuple[Convert | None, Convert | None]:
    """What reads and what writes a value of the type ``hint``; None where it is the database's own."""
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
    except orjson.JSONDecodeError:  # half of a surrogate pair, which was escaped
        return json.loads(text)


def _write_json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=dict).decode()
    except TypeError:  # a number beyond 64 bits, or half a surrogate pair: escaped, they are JSON like any other
        return json.dumps(value, default=dict)


def by_one_index(
    scope: Mapping[str, Any], filters: Mapping[str, Any], alone: Collection[str] = ()
) -> tuple[str, dict[str, Any]]:
    """The condition that finds rows of ``scope`` by one index in its order, and its parameters, both by column.

    ``filters`` are ordered from the one that matches the fewest rows to the one that matches the most. The first that
    is not None is looked up, with ``scope`` before it in the index unless it is one of ``alone``. The others are
    written so that no index answers them, and checked on the rows found: without statistics, a planner would choose
    among indexes by the number of their columns, and read the whole scope.
    """
    values = {column: value for column, value in filters.items() if value is not None}
    first = next(iter(values), None)
    looked_up = {first} if first in alone else {first, *scope}
    params = {**scope, **values}
    conditions = [f"{name} = :{name}" if name in looked_up else _checked(name, value) for name, value in params.items()]
    return " AND ".join(conditions), params


def _checked(column: str, value: Any) -> str:
    """The condition as one that no index answers."""
    return f"{column} + 0 = :{column}" if isinstance(value, int) else f"COALESCE({column}, '') = :{column}"


class Rows(Generic[T]):
    """The rows of one table as records of the dataclass (or ``NamedTuple``) ``record``, for whoever reads them.

    ``key`` is the column that names a row.
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
        """The record under ``key``, if there is one."""
        rows = reader.tuples(self._get, {"key": key})
        return self.make(rows[0]) if rows else None

    def one(self, reader: Reader, where: str, params: Params = NOTHING) -> T | None:
        """The first record that meets ``where``: conditions, and an ORDER BY and LIMIT where they are needed."""
        rows = reader.tuples(self._select + where, params)
        return self.make(rows[0]) if rows else None

    def all(self, reader: Reader, where: str, params: Params = NOTHING) -> list[T]:
        """Every record that meets ``where``, as for :meth:`one`."""
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
        """One page of the records that meet ``where``, in the order of two fields that are unique together.

        ``total`` is how many there are, where that is known without counting. Raises
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
    """One table, for the module that writes it.

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
        """Add ``record``. Raises :class:`webapp.errors.Conflict` for a key that is taken."""
        tx.run(self._insert, {**self.values(record), **write_only})

    def upsert(self, tx: Tx, record: T, *, keep: Sequence[str] = ("created_at",), **write_only: Any) -> None:
        """Add ``record``, or overwrite the row with its key except for the columns ``keep``."""
        values = {**self.values(record), **write_only}
        kept = (self.key, *keep)
        sql = self._upserts.get(kept)
        if sql is None:
            changes = ", ".join(f"{name} = excluded.{name}" for name in values if name not in kept)
            sql = self._upserts[kept] = f"{self._insert} ON CONFLICT ({self.key}) DO UPDATE SET {changes}"
        tx.run(sql, values)

    def update(self, tx: Tx, key: str, /, **changes: Any) -> int:
        """Write the columns in ``changes`` to the row ``key``; how many rows there were, 0 or 1."""
        names = tuple(changes)
        sql = self._updates.get(names)
        if sql is None:
            assignments = ", ".join(f"{name} = :{name}" for name in names)
            sql = self._updates[names] = f"UPDATE {self.name} SET {assignments} WHERE {self.key} = :key_"  # noqa: S608
        return tx.run(sql, {**self.to_columns(changes), "key_": key})

    def delete(self, tx: Tx, key: str) -> int:
        """Delete the row ``key``; how many rows there were, 0 or 1."""
        return tx.run(self._delete, {"key": key})

    def values(self, record: T) -> dict[str, Any]:
        """The values of ``record`` by column, as the database holds them."""
        return {
            column.name: column.get(record) if column.write is None else column.write(column.get(record))
            for column in self.fields
        }

    def to_columns(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """``values`` by column, as the database holds them."""
        return {name: self._as_column(name, value) for name, value in values.items()}

    def _as_column(self, name: str, value: Any) -> Any:
        column = self._written.get(name)
        return value if column is None or column.write is None else column.write(value)


_ADD_TO_COUNT = (
    "INSERT INTO counters (name, n) VALUES (:name, :by) ON CONFLICT (name) DO UPDATE SET n = counters.n + excluded.n"
)


def add_to_counts(tx: Tx, names: Iterable[str], by: int) -> None:
    """Change each named count by ``by``."""
    for name in names:
        tx.add(_ADD_TO_COUNT, {"name": name}, by)


def read_counts(reader: Reader, *names: str) -> dict[str, int]:
    """The counts under ``names``, without those where nothing was counted yet."""
    params = {f"name_{number}": name for number, name in enumerate(names)}
    return dict(reader.tuples(f"SELECT name, n FROM counters WHERE name IN (:{', :'.join(params)})", params))  # noqa: S608


def most_counted(reader: Reader, prefix: str) -> int:
    """The largest count under a name that starts with ``prefix``; 0 where there is none."""
    sql = "SELECT COALESCE(MAX(n), 0) FROM counters WHERE name >= :low AND name < :high"
    return int(reader.tuples(sql, {"low": prefix, "high": prefix + "\U0010ffff"})[0][0])


def drop_counts(tx: Tx, prefix: str) -> None:
    """Delete every count whose name starts with ``prefix`` (when a project is deleted)."""
    tx.run("DELETE FROM counters WHERE name >= :low AND name < :high", {"low": prefix, "high": prefix + "\U0010ffff"})
