"""The files of a catalog's sources, each of which is read once for a build: its hash and what it says of itself.

Everything else that a build asks of a file, such as whether it changed and which version it is, is answered from here,
so that a file which somebody saves meanwhile is seen either as it was or, by the next build, as it is.
"""

import functools
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from io import FileIO
from pathlib import Path
from typing import Any

from webapp.service.components.declared.source import ENDING, SHARED, may_inherit
from webapp.service.components.pieces.form import ENDING as PIECES

PYTHON = ".py"
OF_APPS = (PYTHON, ENDING)
OF_PIECES = (ENDING, PIECES)
_LINKED_FOLDERS = 2  # "actions" and "actions/name" in an app's folder may be links
_VERSION_LINE = re.compile(r"""^version\s*=\s*["']([^"']*)["']""", re.MULTILINE)
_DATE = "$date"
_UNREADABLE = b"unreadable"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file with its ``path`` from its :class:`SourceFolder`, and the ``digest`` of its content.

    ``version`` is the one that a declared component's file says, empty if it says none; ``inherits`` whether it may
    inherit from files besides the ``shared.toml`` of its app.
    """

    path: str
    digest: bytes
    version: str = ""
    inherits: bool = False

    @property
    def parts(self) -> list[str]:
        """The names of its folders, and its own."""
        return self.path.split("/")


class SourceFolder:
    """The files below ``root``, a folder of apps or of components without an app."""

    def __init__(self, root: Path, files: Iterable[SourceFile]) -> None:
        self.root = root
        self.files = sorted(files, key=lambda file: file.path.replace("/", "\0"))  # folder by folder
        self._of_app = dict[str, list[SourceFile]]()
        for file in self.files:
            self._of_app.setdefault(file.path.partition("/")[0], []).append(file)

    @functools.cached_property
    def digest(self) -> bytes:
        """A hash of the names and contents of all files."""
        return _digest(self.files)

    def digest_of(self, path: str) -> bytes:
        """The digest of the file at ``path``; empty if there is none."""
        return next((file.digest for file in self._of_app.get(path.partition("/")[0], ()) if file.path == path), b"")

    @property
    def apps(self) -> Iterator[str]:
        """The folders that hold an ``app.toml``."""
        for app, files in self._of_app.items():
            if any(file.path == f"{app}/app.toml" for file in files):
                yield app

    def of_app(self, app: str) -> list[SourceFile]:
        """The files in the folder ``app``; none if there is no such folder."""
        return self._of_app.get(app, [])

    def dependencies(self, app: str | None) -> "Dependencies":
        """On what the components in the folder ``app`` depend, or those without an app."""
        files = self.files if app is None else self.of_app(app)
        shared = SHARED if app is None else f"{app}/{SHARED}"
        code = [file for file in files if file.path.endswith(PYTHON)]
        return Dependencies(code, [file for file in files if file.path == shared], self)


class Dependencies:
    """On what the declarations of components that share a folder depend: ``code`` that they may import, ``shared``
    parts, and, for one that inherits from other apps, all of the folder that ``within`` stands for."""

    def __init__(self, code: Iterable[SourceFile], shared: Iterable[SourceFile], within: SourceFolder) -> None:
        self._code, self._shared, self._within = tuple(code), tuple(shared), within

    def digest(self, file: SourceFile) -> str:
        """A hash that changes whenever the declaration of the component ``file`` may have."""
        if file.path.endswith(PYTHON):
            return self._digest_of_code
        if file.inherits:
            return (file.digest + self._within.digest).hex()
        shared = self._shared if file.path.endswith(ENDING) else ()
        return b"".join([file.digest, *(each.digest for each in shared)]).hex()

    @functools.cached_property
    def _digest_of_code(self) -> str:
        return _digest(self._code).hex()


class TomlFiles:
    """What TOML files say, by the hashes of their contents: ``known`` from an earlier build, as JSON."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known = known or {}
        self.kept = dict[str, str]()
        """What was asked for, for the next build."""

    def load(self, file: Path, digest: bytes) -> dict[str, Any]:
        """The content of ``file``, which had this ``digest`` when it was looked at.

        Raises ``OSError``, ``UnicodeDecodeError`` and ``tomllib.TOMLDecodeError``.
        """
        fields: dict[str, Any]
        if (kept := self._known.get(digest.hex())) is not None:
            self.kept[digest.hex()] = kept
            fields = json.loads(kept, object_hook=_date)
            return fields
        content = file.read_bytes()
        fields = tomllib.loads(content.decode())
        if _DATE.encode() not in content:
            with suppress(TypeError):  # of a time, which JSON does not have
                self.kept[hashlib.sha256(content).hexdigest()] = json.dumps(fields, default=_of_date)
        return fields


def _of_date(value: object) -> dict[str, str]:
    """A date in JSON, which does not have any. Raises ``TypeError`` for anything else."""
    if type(value) is not date:
        raise TypeError
    return {_DATE: value.isoformat()}


def _date(fields: dict[str, Any]) -> Any:
    return date.fromisoformat(fields[_DATE]) if _DATE in fields else fields


def look(root: Path, endings: tuple[str, ...] = OF_APPS) -> SourceFolder:
    """Read every file below ``root`` that may belong to an app or a component; none if the folder is missing."""
    start = len(os.fspath(root)) + 1
    return SourceFolder(root, (_read(path, path[start:]) for path in _below(os.fspath(root), endings)))


def _read(path: str, place: str) -> SourceFile:
    """The file at ``path``. One that cannot be read has a digest of its own; whoever needs it reports it."""
    try:
        with FileIO(path) as file:
            content = file.readall()
    except OSError:
        return SourceFile(place, _UNREADABLE)
    digest = hashlib.sha256(content).digest()
    if not place.endswith(ENDING):
        return SourceFile(place, digest)
    with suppress(UnicodeDecodeError):
        text = content.decode()
        version = _VERSION_LINE.search(text)
        return SourceFile(place, digest, version[1] if version else "", may_inherit(text))
    return SourceFile(place, digest)


def _digest(files: Iterable[SourceFile]) -> bytes:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.path}\0".encode(errors="surrogateescape") + file.digest + b"\0")
    return digest.digest()


def _below(folder: str, endings: tuple[str, ...], depth: int = 0) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=depth <= _LINKED_FOLDERS):
                yield from _below(entry.path, endings, depth + 1)
            elif entry.name.endswith(endings) and entry.is_file():  # an editor's dangling link is not a file
                yield entry.path
