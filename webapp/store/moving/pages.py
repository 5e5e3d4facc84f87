"""Rows of a table in the order of its primary key: page after page, and as one checksum that every store agrees on."""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from webapp.store.contract import Reader
from webapp.store.moving.shapes import Shape

Values = tuple[Any, ...]
PAGE, ALL = 1_000, 1 << 40


class Sum(NamedTuple):
    """How many rows a table has, and their SHA-256."""

    rows: int
    sha256: str


def page(reader: Reader, shape: Shape, after: Values, limit: int) -> list[Values]:
    """The next ``limit`` rows after the primary key ``after``; from the first where that is empty."""
    names = [f"key_{number}" for number in range(len(after))]
    condition = f"WHERE ({', '.join(shape.key)}) > ({', '.join(f':{name}' for name in names)}) " if after else ""
    return reader.tuples(
        f"SELECT {', '.join(shape.columns)} FROM {shape.name} {condition}"  # noqa: S608
        f"ORDER BY {', '.join(shape.key)} LIMIT :limit",
        {**dict(zip(names, after, strict=True)), "limit": limit},
    )


def key_of(shape: Shape, row: Values) -> Values:
    """The primary key of ``row``."""
    return tuple(row[shape.columns.index(name)] for name in shape.key)


def checksum(reader: Reader, shape: Shape) -> Sum:
    """Count and sum up the table. A NUL in a text counts as the U+FFFD that PostgreSQL keeps in its place."""
    digest, count = hashlib.sha256(), 0
    for rows in _pages(reader, shape):
        digest.update("\n".join(map(repr, rows)).replace("\\x00", "\ufffd").encode() + b"\n")
        count += len(rows)
    return Sum(count, digest.hexdigest())


def _pages(reader: Reader, shape: Shape) -> Iterator[list[Values]]:
    after: Values = ()
    while rows := page(reader, shape, after, PAGE):
        yield rows
        after = key_of(shape, rows[-1])
