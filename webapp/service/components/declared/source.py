"""Reads the file of a declared component and merges the parts that it shares with others.

``use = "name"`` in a prop inherits from that prop in ``shared.toml`` of the app's folder; ``[errors]`` there is for all
components of the app. ``use = "app/name"`` in a push inherits from that push in an app's ``shared.toml``, and
``like = "app/actions/name"`` inherits from a whole file of another app.
"""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webapp.service.components.errors import LoadError

ENDING = ".toml"
SHARED = "shared.toml"
KINDS = ("actions", "triggers")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_LIKE = re.compile(r"[\w-]+/(?:actions|triggers)/[\w-]+(?:/\d+\.\d+\.\d+)?")
_PUSH = re.compile(r"([\w-]+)/([\w-]+)")
_SAYS_MORE = re.compile(r"""^\s*(?:["']?like\b|["']?use["']?\s*=\s*["'][\w-]+/)""", re.MULTILINE)
Mark = tuple[int, int] | None
"""When a file changed last, and its size; None for one that is not there."""


@dataclass(frozen=True)
class Source:
    """A file that was read: ``fields`` includes shared parts; ``marks`` are those of all files that may contribute,
    from before they were read."""

    path: Path
    fields: dict[str, Any]
    text: str = field(repr=False)
    marks: Mapping[Path, Mark]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that contribute to it."""
        return tuple(path for path, mark in self.marks.items() if mark is not None)


def is_declared(path: str | Path) -> bool:
    """Whether the component at ``path`` is a declared one."""
    return str(path).endswith(ENDING)


def name_of(path: Path) -> str:
    """The name of the component at ``path``: ``actions/<name>.toml``, or ``actions/<name>/<version>.toml``."""
    return path.parent.name if _VERSION.fullmatch(path.stem) else path.stem


def app_folder(path: Path) -> Path:
    """The folder of its app; for a component outside of an app, its own folder."""
    folder = path.parent.parent if _VERSION.fullmatch(path.stem) else path.parent
    return folder.parent if folder.name in KINDS else folder


def may_inherit(text: str) -> bool:
    """Whether a file with this ``text`` may inherit from more than the ``shared.toml`` of its own app."""
    return _SAYS_MORE.search(text) is not None


def shared_errors(folder: Path) -> Mapping[str, Any]:
    """How the app with ``folder`` reports errors; empty if its ``shared.toml`` does not say it.

    Raises :class:`LoadError`.
    """
    mark = mark_of(folder / SHARED)
    errors: Mapping[str, Any] = _shared(folder / SHARED, mark).get("errors", {}) if mark else {}
    return errors


def mark_of(path: Path) -> Mark:
    """The mark of the file at ``path``, which changes with the file; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def read(path: Path) -> Source:
    """Read the file at ``path``. Raises :class:`LoadError`."""
    return _read(path, ())


def _read(path: Path, followers: tuple[Path, ...]) -> Source:
    """Read the file at ``path``, from which ``followers`` inherit."""
    if path in followers:
        raise LoadError(f"{path.name} is like itself. Let it be like a file that is like none of these.")
    shared_file = app_folder(path) / SHARED
    marks: Mapping[Path, Mark] = {file: mark_of(file) for file in (path, shared_file)}
    text = _text(path)
    fields = _load(text, path)
    like = fields.pop("like", None)
    if like is not None:
        base = _read(_base_file(path, like), (*followers, path))
        fields, marks = _merged(base.fields, fields), {**marks, **base.marks}
    if marks[shared_file] is not None:
        fields = _sharing(fields, _shared(shared_file, marks[shared_file]), like is not None)
    fields, marks = _pushing(path, fields, marks)
    return Source(path, fields, text, marks)


def _pushing(
    path: Path, fields: dict[str, Any], marks: Mapping[Path, Mark]
) -> tuple[dict[str, Any], Mapping[Path, Mark]]:
    """``fields`` with the push that they inherit, and ``marks`` with that of the file that has it."""
    push = fields.get("push")
    if not isinstance(push, dict) or "use" not in push:
        return fields, marks
    names = _PUSH.fullmatch(push["use"]) if isinstance(push["use"], str) else None
    if names is None:
        raise LoadError(f"{path.name}: use in [push] names another push, such as microsoft_outlook/graph.")
    shared_file = app_folder(path).parent / names[1] / SHARED
    mark = mark_of(shared_file)
    used = _shared(shared_file, mark).get("push", {}).get(names[2])
    if not isinstance(used, dict):
        raise LoadError(f"{path.name}: {names[1]}/{SHARED} has no [push.{names[2]}].")
    changes = {name: value for name, value in push.items() if name != "use"}
    return {**fields, "push": _merged(used, changes)}, {**marks, shared_file: mark}


def _base_file(path: Path, like: object) -> Path:
    if not isinstance(like, str) or not _LIKE.fullmatch(like):
        raise LoadError(f"{path.name}: like names another file, such as github/actions/create-issue.")
    return app_folder(path).parent / f"{like}{ENDING}"


@functools.lru_cache(maxsize=4)
def _shared(path: Path, mark: Mark) -> dict[str, Any]:
    """The content of an app's ``shared.toml``; ``mark`` invalidates the cache. Raises :class:`LoadError`."""
    shared = _load(_text(path), path)
    tables: dict[str, Any] = {name: shared[name] for name in ("props", "errors", "push") if name in shared}
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
    """``fields`` with the ``shared`` parts; unchanged if their structure is invalid, which the form reports."""
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
    """``base`` with ``changes``, merged table by table; options are replaced as a whole."""
    merged = dict(base)
    for name, value in changes.items():
        inner = merged.get(name)
        deep = isinstance(value, dict) and isinstance(inner, dict) and name != "options"
        merged[name] = _merged(inner, value) if deep and isinstance(inner, dict) else value
    return merged
