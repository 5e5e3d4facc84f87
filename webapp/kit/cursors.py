"""Keyset pagination: opaque cursors, and the pages of a list (contract "Lists").

A cursor contains the sort key of a row and the fingerprint of its list, so that a cursor of another list, sort or
filter is refused. It contains no secret and is not signed: a forged cursor can only select rows that the caller may
read anyway. Running the query is left to the caller.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Key = tuple[str | int, ...]

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
# ``json.dumps`` makes an encoder for each call that has options; each list writes two to three texts.
_write_parts = json.JSONEncoder(default=str).encode
_write_key = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class BadCursor(ValueError):
    """The cursor is broken, or belongs to another list, sort or filter."""


@dataclass(frozen=True, slots=True)
class Window:
    """The requested part of a list: at most ``limit`` rows after and/or before a cursor."""

    limit: int = DEFAULT_LIMIT
    after: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list. ``end_cursor`` is "" on the last page; ``total_count`` counts the whole list."""

    items: Sequence[T]
    total_count: int
    start_cursor: str
    end_cursor: str

    def to_json(self, item_to_json: Callable[[T], Any]) -> dict[str, Any]:
        """The page as the API returns it, with each item converted by ``item_to_json``."""
        items = [item_to_json(item) for item in self.items]
        info = {
            "count": len(items),
            "total_count": self.total_count,
            "start_cursor": self.start_cursor,
            "end_cursor": self.end_cursor,
        }
        return {"data": items, "page_info": info}


def fingerprint(*parts: object) -> str:
    """A short hash of a list's name, sort and filters; equal parts have equal hashes."""
    return hashlib.sha256(_write_parts(parts).encode()).hexdigest()[:8]


def encode(mark: str, key: Key) -> str:
    """The cursor of the row with sort key ``key`` in the list fingerprinted ``mark``."""
    raw = _write_key([mark, *key]).encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(mark: str, cursor: str, size: int) -> Key:
    """The sort key in ``cursor``. Raises :class:`BadCursor` unless it was made for ``mark`` with ``size`` parts."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        parts = json.loads(raw)
    except (binascii.Error, ValueError, RecursionError) as error:
        raise BadCursor("The cursor is broken; start again without it.") from error
    if not isinstance(parts, list) or not parts:
        raise BadCursor("The cursor is broken; start again without it.")
    if parts[0] != mark:  # a cursor of another sort may have more parts, or fewer
        raise BadCursor("The cursor belongs to another list, sort or filter; start again without it.")
    if len(parts) != size + 1 or not all(_storable(part) for part in parts[1:]):
        raise BadCursor("The cursor is broken; start again without it.")
    return tuple(parts[1:])


def _storable(part: object) -> bool:
    if isinstance(part, str):
        return not any("\ud800" <= character <= "\udfff" for character in part)
    return isinstance(part, int) and not isinstance(part, bool) and abs(part) < 2**63


@dataclass(frozen=True, slots=True)
class Keyset:
    """The SQL of one keyset page: conditions to add, order and row limit.

    ``conditions`` and ``params`` are appended to the WHERE clause. With ``reverse``, the rows are returned in the
    opposite order, which :func:`page` corrects.
    """

    conditions: str
    params: dict[str, str | int]
    order: str
    limit: int
    reverse: bool


def keyset(window: Window, mark: str, columns: Sequence[str], *, descending: bool) -> Keyset:
    """Plan a page ordered by ``columns``, which are unique together and all ascending or all descending.

    It selects one row more than ``window.limit``, to detect the last page. Raises :class:`BadCursor`.
    """
    forward, backward = ("<", ">") if descending else (">", "<")
    conditions, params = [], dict[str, str | int]()
    for name, cursor, operator in (("after", window.after, forward), ("before", window.before, backward)):
        if cursor:
            key = decode(mark, cursor, len(columns))
            names = [f"{name}_{index}" for index in range(len(columns))]
            params.update(zip(names, key, strict=True))
            conditions.append(f"({', '.join(columns)}) {operator} ({', '.join(':' + n for n in names)})")
    reverse = bool(window.before) and not window.after
    way = "DESC" if descending != reverse else "ASC"
    return Keyset(
        conditions="".join(f" AND {condition}" for condition in conditions),
        params=params,
        order=", ".join(f"{column} {way}" for column in columns),
        limit=window.limit + 1,
        reverse=reverse,
    )


def page(
    rows: Sequence[T], window: Window, plan: Keyset, mark: str, key_of: Callable[[T], Key], total_count: int
) -> Page[T]:
    """The page with the up to ``limit + 1`` rows that ``plan`` selected.

    ``end_cursor`` is "" on the last page. A page before a cursor is never the last: the cursor's row follows.
    """
    more = len(rows) > window.limit
    kept = list(rows[: window.limit])
    if plan.reverse:
        kept.reverse()
        more = True
    if not kept:
        return Page([], total_count, "", "")
    end = encode(mark, key_of(kept[-1])) if more else ""
    return Page(kept, total_count, encode(mark, key_of(kept[0])), end)
