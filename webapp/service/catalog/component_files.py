"""Finds the files of components, in the folders of apps or outside any app, with their names and versions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from webapp.service.catalog.component_keys import key_of, name_of
from webapp.service.catalog.source_files import SourceFile, SourceFolder
from webapp.service.components.declared.source import ENDING, is_declared

Kind = Literal["action", "trigger"]
KINDS: Mapping[str, Kind] = {"actions": "action", "triggers": "trigger"}  # by their folders in an app's
PATTERNS = ("*/*.py", f"*{ENDING}", f"*/*{ENDING}")
_PLACE = (
    "a component stands at <name-in-lower-case>/<major.minor.patch>.py, or at <name-in-lower-case>.toml with "
    'version = "<major.minor.patch>" in it.'
)
_TAKEN = "another component of the app has this name, which a trigger and an action may not share, or this version."
_COMPONENT = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Component:
    """A component file: ``actions/<name>/<version>.py`` or ``actions/<name>.toml`` in its app's folder, or the same
    in ``triggers``; ``actions/<name>/<version>.json`` if its code is a piece's.

    ``path`` is relative to ``root``. Outside apps, ``app`` and ``kind`` are None: the file declares its kind. ``of`` is
    the app in whose folder the file is, if that is another one. ``digest`` changes whenever the declaration may have.
    """

    key: str
    version: str
    kind: Kind | None
    app: str | None
    path: str
    root: Path
    of: str | None = None
    digest: str = ""

    @property
    def name(self) -> str:
        """The key without the slug of its app."""
        return name_of(self.key, self.app)

    @property
    def file(self) -> Path:
        """The absolute path of the file."""
        return self.root / self.path


def components(folder: SourceFolder, place: str | None, slug: str | None, problems: list[str]) -> Iterator[Component]:
    """The components in the folder ``place`` below ``folder``, of the app ``slug``; those of no app without both.

    Adds to ``problems`` the files that are no components, names that an action and a trigger share, and duplicate
    versions.
    """
    kinds: dict[str, Kind | None] = {}
    releases: set[tuple[str, str]] = set()
    depends_on = folder.dependencies(place)
    for file in folder.files if place is None else folder.of_app(place):
        steps = file.parts if place is None else file.parts[2:]
        kind = None if place is None else KINDS.get(file.parts[1])
        if (place is not None and kind is None) or not _is_component(steps):
            continue
        name, version = _named(steps, file)
        if not _COMPONENT.fullmatch(name) or not _VERSION.fullmatch(version):
            problems.append(f"{file.path}: {_PLACE}")
            continue
        key = key_of(slug, name)
        if kinds.setdefault(key, kind) != kind or (key, version) in releases:
            problems.append(f"{file.path}: {_TAKEN}")
            continue
        releases.add((key, version))
        yield Component(key, version, kind, slug, file.path, folder.root, digest=depends_on.digest(file))


def _is_component(steps: Sequence[str]) -> bool:
    """Whether a file with these names of folders, and of its own, stands where a component does."""
    return len(steps) == 2 or (len(steps) == 1 and is_declared(steps[0]))


def _named(steps: Sequence[str], file: SourceFile) -> tuple[str, str]:
    """The name and version of the component ``file``; the version is empty if there is none."""
    stem = steps[-1].rpartition(".")[0]
    if not is_declared(file.path) or _VERSION.fullmatch(stem):
        return steps[-2] if len(steps) == 2 else stem, stem
    return stem, file.version
