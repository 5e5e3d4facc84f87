"""Finds the files of components, in the folders of apps or outside any app, with their names and versions."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from webapp.service.components.declared.source import ENDING, is_declared, name_of
from webapp.service.components.pieces.form import ENDING as PIECES

Kind = Literal["action", "trigger"]
KINDS: Mapping[str, Kind] = {"actions": "action", "triggers": "trigger"}  # by their folders in an app's
PATTERNS = ("*/*.py", f"*{ENDING}", f"*/*{ENDING}")
OF_PIECES = f"*/*{PIECES}"
_PLACE = (
    "a component stands at <name-in-lower-case>/<major.minor.patch>.py, or at <name-in-lower-case>.toml with "
    'version = "<major.minor.patch>" in it.'
)
_TAKEN = "another component of the app has this name, which a trigger and an action may not share, or this version."
_VERSION_LINE = re.compile(r"""^version\s*=\s*["']([^"']*)["']""", re.MULTILINE)
_COMPONENT = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Component:
    """A component file: ``actions/<name>/<version>.py`` or ``actions/<name>.toml`` in its app's folder, or the same
    in ``triggers``; ``actions/<name>/<version>.json`` if its code is a piece's.

    ``path`` is relative to ``root``. Outside apps, ``app`` and ``kind`` are None: the file declares its kind. ``of`` is
    the app in whose folder the file is, if that is another one.
    """

    key: str
    version: str
    kind: Kind | None
    app: str | None
    path: str
    root: Path
    of: str | None = None

    @property
    def file(self) -> Path:
        """The absolute path of the file."""
        return self.root / self.path


def components(files: Iterable[Path], root: Path, slug: str | None, problems: list[str]) -> Iterator[Component]:
    """The components in ``files`` below ``root``, of the app ``slug`` or of no app.

    Adds to ``problems`` the files that are no components, names that an action and a trigger share, and duplicate
    versions.
    """
    kinds: dict[str, Kind | None] = {}
    releases: set[tuple[str, str]] = set()
    for file in files:
        label, version = file.relative_to(root).as_posix(), _version(file)
        name = name_of(file) if is_declared(file) else file.parent.name
        if not _COMPONENT.fullmatch(name) or not _VERSION.fullmatch(version):
            problems.append(f"{label}: {_PLACE}")
            continue
        key, kind = (f"{slug}-{name}", _kind(file)) if slug else (f"~/{name}", None)
        if kinds.setdefault(key, kind) != kind or (key, version) in releases:
            problems.append(f"{label}: {_TAKEN}")
            continue
        releases.add((key, version))
        yield Component(key, version, kind, slug, label, root)


def _kind(file: Path) -> Kind:
    return KINDS[next(folder.name for folder in file.parents if folder.name in KINDS)]


def _version(file: Path) -> str:
    """The version in the name of the file, or in a declared component's file; empty if there is none."""
    if not is_declared(file) or _VERSION.fullmatch(file.stem):
        return file.stem
    with suppress(OSError, UnicodeDecodeError):
        match = _VERSION_LINE.search(file.read_text("utf-8"))
        return match[1] if match else ""
    return ""


def python_files(folder: Path) -> list[Path]:
    """Every Python file below ``folder``: components with code, and modules that they share."""
    return sorted(map(Path, _files_below(os.fspath(folder), (".py",))))


def component_files(folder: Path) -> list[Path]:
    """Every file below ``folder`` that may belong to an app or a component."""
    return sorted(map(Path, _files_below(os.fspath(folder), (".py", ENDING))))


def piece_files(folder: Path) -> list[Path]:
    """Every file below ``folder``, the folder of a piece's app, that may belong to the app or a component."""
    return sorted(map(Path, _files_below(os.fspath(folder), (ENDING, PIECES))))


def _files_below(folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(entry.path, endings)
            elif entry.name.endswith(endings) and entry.is_file():  # an editor's dangling link is not a file
                yield entry.path
