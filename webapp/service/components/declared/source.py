"""Reading the file of a declared component: its members, the lines on which they stand, and what it shares.

``use = "name"`` in a prop takes that prop of ``shared.toml`` in the app's folder, with changes; ``[errors]`` there is
for all of them. ``like = "app/actions/name"`` takes everything from another app's file, with changes.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webapp.service.components.errors import LoadError

ENDING = ".toml"
SHARED = "shared.toml"
KINDS = ("actions", "triggers")
_HEADER = re.compile(r"\s*(\[\[?)([^\]]+)\]\]?\s*(?:#.*)?$")
_MEMBER = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_KEY = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_LIKE = re.compile(r"[\w-]+/(?:actions|triggers)/[\w-]+(?:/\d+\.\d+\.\d+)?")
Place = tuple[str | int, ...]
Mark = tuple[int, int] | None
"""When a file changed last, and its size; None for one that is not there."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was read: ``fields`` with all that it shares; ``marks`` of all files that could have a part in them,
    as they were before they were read."""

    path: Path
    fields: dict[str, Any]
    lines: Mapping[Place, int]
    marks: Mapping[Path, Mark]

    @property
    def files(self) -> tuple[Path, ...]:
        """All that had a part in it."""
        return tuple(path for path, mark in self.marks.items() if mark is not None)

    def line(self, place: Place) -> int:
        """Where the member at ``place`` stands, or the nearest one around it."""
        around = (place[:end] for end in range(len(place), 0, -1))
        return next((self.lines[part] for part in around if part in self.lines), 1)


def is_declared(path: str | Path) -> bool:
    """Whether the component at ``path`` is data."""
    return str(path).endswith(ENDING)


def name_of(path: Path) -> str:
    """The name of the component at ``path``: ``actions/<name>.toml``, or ``actions/<name>/<version>.toml``."""
    return path.parent.name if _VERSION.fullmatch(path.stem) else path.stem


def app_folder(path: Path) -> Path:
    """The folder of its app; for one outside any app, the folder that it stands in."""
    folder = path.parent.parent if _VERSION.fullmatch(path.stem) else path.parent
    return folder.parent if folder.name in KINDS else folder


def shared_files(path: Path) -> tuple[Path, ...]:
    """The files that have a part in the component at ``path``; it alone where they cannot be read."""
    try:
        return read(path).files
    except LoadError:
        return (path,)


def mark_of(path: Path) -> Mark:
    """The mark of the file at ``path``."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def read(path: Path) -> Source:
    """The file at ``path``. Raises :class:`LoadError`."""
    return _read(path, ())


def _read(path: Path, followers: tuple[Path, ...]) -> Source:
    """The file at ``path``, which ``followers`` are like."""
    if path in followers:
        raise LoadError(f"{path.name} is like itself. Let it be like a file that is like none of these.")
    shared_file = app_folder(path) / SHARED
    marks = {file: mark_of(file) for file in (path, shared_file)}
    text = _text(path)
    fields = _load(text, path)
    like = fields.pop("like", None)
    if like is not None:
        base = _read(_base_file(path, like), (*followers, path))
        fields, marks = _merged(base.fields, fields), {**marks, **base.marks}
    if marks[shared_file] is not None:
        fields = _sharing(fields, _shared(shared_file), like is not None)
    return Source(path, fields, dict(_lines(text)), marks)


def _base_file(path: Path, like: object) -> Path:
    if not isinstance(like, str) or not _LIKE.fullmatch(like):
        raise LoadError(f"{path.name}: like names another file, such as github/actions/create-issue.")
    return app_folder(path).parent / f"{like}{ENDING}"


def _shared(path: Path) -> dict[str, Any]:
    """What an app's components share, if its tables are tables."""
    shared = _load(_text(path), path)
    tables: dict[str, Any] = {name: shared[name] for name in ("props", "errors") if name in shared}
    props = tables.get("props")
    tables |= {f"props.{name}": prop for name, prop in props.items()} if isinstance(props, dict) else {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise LoadError(f"{path.name}: {name} must be a table, [{name}].")
    return shared


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise LoadError(f"There is no readable file {path.parent.name}/{path.name}.") from None


def _load(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LoadError(f"{path.name} cannot be read as TOML: {error}.") from None
    except RecursionError:
        raise LoadError(f"{path.name} is nested too deeply to be read.") from None


def _sharing(fields: dict[str, Any], shared: Mapping[str, Any], merged: bool) -> dict[str, Any]:
    """``fields`` with what is ``shared``; themselves where they have another shape, which their form tells."""
    if not all(isinstance(fields.get(name, {}), dict) for name in ("props", "errors")):
        return fields
    props = dict(fields.get("props", {}))
    for name, prop in props.items():
        used = prop.get("use") if isinstance(prop, dict) else None
        if isinstance(used, str) and used in shared.get("props", {}):
            changes = {key: value for key, value in prop.items() if key != "use"}
            props[name] = _merged(shared["props"][used], changes)
    errors = {} if merged else shared.get("errors", {})
    own = fields.get("errors", {})
    together = {"errors": _merged(errors, own)} if errors or own else {}
    return {**fields, **({"props": props} if props else {}), **together}


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with ``changes``, table by table; options are exchanged whole."""
    merged = dict(base)
    for name, value in changes.items():
        inner = merged.get(name)
        deep = isinstance(value, dict) and isinstance(inner, dict) and name != "options"
        merged[name] = _merged(inner, value) if deep and isinstance(inner, dict) else value
    return merged


def _lines(text: str) -> Iterator[tuple[Place, int]]:
    """The line of every table and of every member that begins a line. The text is valid TOML."""
    table: Place = ()
    counts: dict[Place, int] = {}
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        header, member = _HEADER.match(lines[number]), _MEMBER.match(lines[number])
        if header and not member:
            table = _steps(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            yield table, number + 1
        elif member:
            yield (*table, *_steps(member[1])), number + 1
            number = _end(lines, number, member.end())
        number += 1


def _end(lines: list[str], number: int, start: int) -> int:
    """The last line of the value that begins on line ``number`` at ``start``."""
    value = lines[number][start:]
    while number + 1 < len(lines):
        try:
            tomllib.loads(f"value = {value}")
            return number
        except tomllib.TOMLDecodeError:
            number += 1
            value += f"\n{lines[number]}"
    return number


def _steps(keys: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in _KEY.findall(keys))
