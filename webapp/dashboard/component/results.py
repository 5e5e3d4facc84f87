"""What a run gave, as people read it: a list of like objects as a table, an object as its fields, and CSV.

Values come from apps and are untrusted. Templates escape them; a cell of CSV that a spreadsheet would take for a
formula gets an apostrophe (OWASP, "CSV Injection"). Members of nested objects are columns of their own, one level deep.
"""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

MAX_ROWS = 200  # on a page; the whole is downloaded
MAX_COLUMNS = 100
FIRST_COLUMNS = 8  # shown until others are chosen
MAX_TEXT = 300  # characters of a cell
MAX_IMAGE = 256 * 1024  # characters of an image in the value itself
LIKE = 0.4  # of all columns, how many the objects of a table have on average
VALUE = "value"  # the column of a list that has no objects
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?")
_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")


@dataclass(frozen=True, slots=True)
class Cell:
    """One value. ``text`` is what is shown, of a link without its host."""

    kind: Literal["text", "nothing", "link", "image", "json"]
    text: str
    host: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A list as a table: all ``columns``, those that are ``shown``, and the first rows."""

    columns: Sequence[str]
    shown: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    total: int


@dataclass(frozen=True, slots=True)
class Record:
    """An object as its fields."""

    fields: Sequence[tuple[str, Cell]]


def view_of(value: Any, chosen: Sequence[str] = ()) -> Table | Record | None:
    """``value`` as a table with the ``chosen`` columns, or as fields; None if it is best read as JSON."""
    listed = _listed(value)
    if listed is not None:
        columns = _columns(listed)
        shown = [name for name in columns if name in chosen] or _first(columns, listed)
        rows = [[cell(row.get(name)) for name in shown] for row in listed[:MAX_ROWS]]
        return Table(columns, shown, rows, len(listed))
    if isinstance(value, dict) and value:
        return Record([(name, cell(item)) for name, item in list(_flat(value).items())[:MAX_COLUMNS]])
    return None


def cell(value: Any) -> Cell:
    """``value`` as a page shows it."""
    if value is None or value == "":
        return Cell("nothing", "")
    if isinstance(value, dict | list):
        return Cell("json", _short(json.dumps(value, ensure_ascii=False)))
    if not isinstance(value, str):
        return Cell("text", json.dumps(value))
    if len(value) <= MAX_IMAGE and _IMAGE.fullmatch(value):
        return Cell("image", "", url=value)
    return _link(value) or Cell("text", _short(value))


def csv_of(value: Any) -> str:
    """``value`` as CSV (RFC 4180) with all its columns; an object is one row. It begins with a byte order mark."""
    listed = _listed(value)
    if listed is None:
        listed = [_flat(value)] if isinstance(value, dict) else [{VALUE: value}]
    return "\ufeff" + _csv(_columns(listed), listed)


def csv_of_shown(value: Any, table: Table) -> str:
    """The rows and columns that a page shows, as CSV to copy."""
    return _csv(table.shown, (_listed(value) or [])[:MAX_ROWS])


def has_table(value: Any) -> bool:
    """Whether ``value`` is shown as a table."""
    return _listed(value) is not None


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([_harmless(name) for name in columns])
    writer.writerows([[_harmless(row.get(name)) for name in columns] for row in rows])
    return text.getvalue()


def _harmless(value: Any) -> str:
    """``value`` as a cell of CSV that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return text if isinstance(value, int | float) else _harmless(text)
    if value.lstrip(" ").startswith(_FORMULA) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def _listed(value: Any) -> list[dict[str, Any]] | None:
    """The rows of ``value``: a list of like objects or of plain values, or the only such list in an object."""
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list) and item]
        holds_objects = len(lists) == 1 and all(isinstance(row, dict) for row in lists[0])
        return _listed(lists[0]) if holds_objects else None
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(row, dict) for row in value):
        rows = [_flat(row) for row in value]
        names = {name for row in rows for name in row}
        is_alike = names and sum(map(len, rows)) >= LIKE * len(rows) * len(names)
        return rows if is_alike else None
    if any(isinstance(row, dict | list) for row in value):
        return None
    return [{VALUE: row} for row in value]


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """``row`` with the members of the objects in it as members of its own."""
    flat = dict[str, Any]()
    for name, item in row.items():
        if isinstance(item, dict) and item and not any(isinstance(inner, dict | list) for inner in item.values()):
            flat |= {f"{name}.{inner}": member for inner, member in item.items()}
        else:
            flat[name] = item
    return flat


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))[:MAX_COLUMNS]


def _first(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns that are shown at first: those that have plain values anywhere, before the others."""

    def is_plain(name: str) -> bool:
        return any(
            row.get(name) not in (None, "") and not isinstance(row[name], dict | list) for row in rows[:MAX_ROWS]
        )

    first = [name for name in columns if is_plain(name)][:FIRST_COLUMNS]
    return first or list(columns[:FIRST_COLUMNS])


def _link(text: str) -> Cell | None:
    """``text`` as a link, if it is the address of a page."""
    if not text.startswith(("https://", "http://")) or len(text) > 2_000 or re.search(r"[\s\x00-\x1f\x7f\\]", text):
        return None
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
    except ValueError:
        return None
    if not host or "@" in parts.netloc:
        return None
    rest = text.partition("://")[2][len(parts.netloc) :]
    return Cell("link", _short(rest if rest != "/" else "", 60), host, text)


def _short(text: str, most: int = MAX_TEXT) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
