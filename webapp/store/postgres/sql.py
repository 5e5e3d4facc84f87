"""The portable SQL as PostgreSQL takes it: numbered parameters, and its own names of types.

How many rows a list gives at most is a parameter like any other. A plan for any value takes it for a tenth of what
there is then, however much :mod:`webapp.store.postgres.statistics` says that is.

Texts compare and sort by their bytes (the collation "C"), as SQLite's do, whatever the language of the database.
"""

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::|:([A-Za-z_]\w*)""")
_TYPES = {"INTEGER": "BIGINT", "BLOB": "BYTEA", "TEXT": 'TEXT COLLATE "C"'}
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b")
_COMMENT = re.compile(r"--[^\n]*")


class Statement(NamedTuple):
    """SQL with ``$1`` and so on, and the names of the parameters in that order."""

    sql: str
    names: tuple[str, ...]


@lru_cache(maxsize=4096)
def statement(sql: str) -> Statement:
    """``sql`` with its ``:name`` parameters numbered; what stands in quotes or comments, and ``::``, is left alone."""
    names: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return Statement(_TOKEN.sub(numbered, sql), tuple(names))


def definitions(sql: str) -> list[str]:
    """The statements of a migration, with the types of their columns."""
    text = _COMMENT.sub("", sql)
    return [_TYPE.sub(lambda match: _TYPES[match[1]], part) for part in text.split(";\n") if part.strip(" \n;")]
