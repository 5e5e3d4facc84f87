"""The files of components: where they stand in a folder of apps or outside any, by their names and versions."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from webapp.service.components.declared.source import ENDING, is_declared, name_of

Kind = Literal["action", "trigger"]
KINDS: Mapping[str, Kind] = {"actions": "action", "triggers": "trigger"}  # by their folders in an app's
PATTERNS = ("*/*.py", f"*{ENDING}", f"*/*{ENDING}")
_PLACE = (
    "a component stands at <name-in-lower-case>/<major.minor.patch>.py, or at <name-in-lower-case>.toml with "
    'version = "<major.minor.patch>" in it.'
)
_VERSION_LINE = re.compile(r"""^version\s*=\s*["']([^"']*)["']""", re.MULTILINE)
_COMPONENT = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Component:
    """One component file: ``actions/<name>/<version>.py`` or ``actions/<name>.toml`` in its app's folder, or the same
    in ``triggers``.

    ``path`` begins in ``root``. One outside any app has no ``app``, and its ``kind`` is what it declares.
    """

    key: str
    version: str
    kind: Kind | None
    app: str | None
    path: str
    root: Path

    @property
    def file(self) -> Path:
        """Where it stands."""
        return self.root / self.path


def components(files: Iterable[Path], root: Path, slug: str | None, problems: list[str]) -> Iterator[Component]:
    """The components in ``files`` below ``root``, of the app ``slug`` or of none; what is none is a problem."""
    for file in files:
        label, version = file.relative_to(root).as_posix(), _version(file)
        name = name_of(file) if is_declared(file) else file.parent.name
        if not _COMPONENT.fullmatch(name) or not _VERSION.fullmatch(version):
            problems.append(f"{label}: {_PLACE}")
            continue
        key = f"{slug}-{name}" if slug else f"~/{name}"
        yield Component(key, version, _kind(file) if slug else None, slug, label, root)


def _kind(file: Path) -> Kind:
    return KINDS[next(folder.name for folder in file.parents if folder.name in KINDS)]


def _version(file: Path) -> str:
    """The version that the name of the file says, or, of one that is data, the file itself; empty for none."""
    if not is_declared(file) or _VERSION.fullmatch(file.stem):
        return file.stem
    with suppress(OSError, UnicodeDecodeError):
        match = _VERSION_LINE.search(file.read_text("utf-8"))
        return match[1] if match else ""
    return ""


def python_files(folder: Path) -> list[Path]:
    """Every Python file below ``folder``: the components that are code, and what they share."""
    return sorted(map(Path, _files_below(os.fspath(folder), (".py",))))


def component_files(folder: Path) -> list[Path]:
    """Every file below ``folder`` that may have a part in a component, or be an app's own."""
    return sorted(map(Path, _files_below(os.fspath(folder), (".py", ENDING))))


def _files_below(folder: str, endings: tuple[str, ...]) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(entry.path, endings)
            elif entry.name.endswith(endings) and entry.is_file():  # an editor's link to nowhere is none
                yield entry.path
