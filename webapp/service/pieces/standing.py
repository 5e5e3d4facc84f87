"""What of a package stands in ``DATA/pieces/apps`` already: its components in each version, and the apps it brought."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import orjson

from webapp.service.pieces.metadata import Kind

_KINDS: Mapping[str, Kind] = {"actions": "action", "triggers": "trigger"}


@dataclass(frozen=True, slots=True)
class Standing:
    """``files`` are its components by their places, with the version of each; ``own`` their names in the piece.

    ``brought`` are the folders of the apps that it brought, ``joined`` those of others' apps that have parts of it.
    """

    files: Mapping[Path, str]
    own: Mapping[Path, str]
    brought: tuple[Path, ...] = ()
    joined: tuple[Path, ...] = ()

    @classmethod
    def read(cls, data: Path, package: str) -> Self:
        """That of ``package`` in the data folder ``data``."""
        root = data / "pieces" / "apps"
        files, own = dict[Path, str](), dict[Path, str]()
        for file in sorted(root.glob("*/*/*/*.json")):
            piece = _piece(file)
            if piece.get("package") == package and file.parts[-3] in _KINDS:
                files[file], own[file] = file.stem, str(piece.get("name"))
        apps = {file.parent: file.read_text("utf-8") for file in root.glob("*/app.toml")}
        brought = {folder for folder, text in apps.items() if text.startswith(mark(package))}
        joined = {file.parents[2] for file in files} - brought
        return cls(files, own, tuple(sorted(brought)), tuple(sorted(joined)))

    def has_brought(self, slug: str) -> bool:
        """Whether the app of that slug is there because of the package alone."""
        return any(folder.name == slug for folder in self.brought)

    def names(self, slug: str, kind: str) -> dict[str, str]:
        """The names of its components of that kind in the app of that slug, by its own."""
        return {
            own: file.parent.name
            for file, own in self.own.items()
            if file.parents[2].name == slug and _KINDS[file.parts[-3]] == kind
        }


def mark(package: str) -> str:
    """The first line of the ``app.toml`` of an app that ``package`` brought."""
    return f"# Brought by the npm package {package}.\n"


def _piece(file: Path) -> Mapping[str, object]:
    try:
        piece = orjson.loads(file.read_bytes())["piece"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return piece if isinstance(piece, dict) else {}
