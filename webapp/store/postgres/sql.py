"""The portable SQL as PostgreSQL takes it: numbered parameters, and its own names of types.

How many rows a list gives at most is a parameter like any other. A plan for any value takes it for a tenth of what
there is then, however much :mod:`webapp.store.postgres.statistics` says that is.

Texts compare and sort by their bytes (the collation "C"), as SQLite's do, whatever the language of the database.
"""

import re
from functools import lru_cache
from typing import Any

from webapp.store.contract import Params

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::|:([A-Za-z_]\w*)""")
_TYPES = {"INTEGER": "BIGINT", "BLOB": "BYTEA", "TEXT": 'TEXT COLLATE "C"'}
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b")
_COMMENT = re.compile(r"--[^\n]*")


def numbered(sql: str, params: Params) -> tuple[str, list[Any]]:
    """``sql`` with ``$1`` and so on in place of its ``:name`` parameters, and their values in that order."""
    text, names = _statement(sql)
    return text, [params[name] for name in names]


@lru_cache(maxsize=4096)
def _statement(sql: str) -> tuple[str, tuple[str, ...]]:
    """``sql`` and the names of its parameters; what stands in quotes or comments, and ``::``, is left alone."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _TOKEN.sub(number, sql), tuple(names)


def definitions(sql: str) -> list[str]:
    """The statements of a migration, with the types of their columns."""
    text = _COMMENT.sub("", sql)
    return [_TYPE.sub(lambda match: _TYPES[match[1]], part) for part in text.split(";\n") if part.strip(" \n;")]
