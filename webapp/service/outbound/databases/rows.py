"""What statements and tables of a database are, whichever kind it is of."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_ROWS = 1000
MAX_COLUMNS = 5_000
CANCEL_S = 1.0  # how long before the deadline the server is told to stop a statement


@dataclass(frozen=True, slots=True)
class Rows:
    """What a statement gave: its first rows, how many there were (or were changed) in all, and the command.

    ``last_id`` is the number that the server gave a new row, where it tells one.
    """

    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    count: int
    command: str
    last_id: int | None = None

    @property
    def cut(self) -> bool:
        """Whether there were more rows than are kept."""
        return bool(self.rows) and self.count > len(self.rows)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; `kind` is its data type in the server's words."""

    name: str
    kind: str
    nullable: bool
    default: str | None


@dataclass(frozen=True, slots=True)
class Table:
    """One table or view. `title` is how a statement names it; `rows` an estimate, None where there is none."""

    schema: str
    name: str
    title: str
    rows: int | None
    columns: tuple[Column, ...]


def tables_of(rows: Iterable[tuple[Any, ...]]) -> Iterator[Table]:
    """The tables of ``rows``, one for each column in the order of the tables: schema, table, column, type, whether it
    may be null, its default, whether the schema is the account's own, and how many rows the table has."""
    for (schema, name, own, count), group in itertools.groupby(rows, lambda row: (row[0], row[1], row[6], row[7])):
        columns = tuple(Column(row[2], row[3], bool(row[4]), row[5]) for row in group)
        rows_known = count if count is not None and count >= 0 else None  # -1: never counted
        yield Table(schema, name, name if own else f"{schema}.{name}", rows_known, columns)
