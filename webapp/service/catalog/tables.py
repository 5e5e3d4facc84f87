"""Fills the tables of a catalog that is being built."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from sqlite_utils import Database


def packed(value: object) -> str:
    """``value`` as JSON."""
    return orjson.dumps(value).decode()


def insert(database: Database, table: str, rows: Iterable[Mapping[str, Any]], *, replace: bool = False) -> None:
    """Insert ``rows``, which all have the same columns, into ``table``; with ``replace``, in place of those with the
    same key."""
    every = iter(rows)
    first = next(every, None)
    if first is None:
        return
    names, places = ", ".join(first), ", ".join(f":{name}" for name in first)
    statement = f"INSERT {'OR REPLACE ' if replace else ''}INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - a module's own names
    with database.conn as connection:
        connection.executemany(statement, itertools.chain([first], every))
