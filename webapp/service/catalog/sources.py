"""Reading the sources of a catalog: folders of apps, each ``<slug>/app.toml`` with its components, and categories.

An operator's own components may also stand outside any app, as ``<name>/<version>.py`` in a folder of their own.

A file that cannot be read becomes a problem and is left out; the rest goes on. What is wrong between the facts of
a file that can be read is ``check``'s to find.
"""

import hashlib
import os
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webapp.service.catalog.component_files import KINDS, PATTERNS, Component, component_files, components
from webapp.service.catalog.spec import AppSpec, Category

BUILT_IN = Path(__file__).parent / "apps"
CATEGORIES = "categories.toml"


@dataclass(frozen=True, slots=True)
class Source:
    """One app as found: its facts and where they stand; ``own`` when it is the operator's."""

    path: str
    spec: AppSpec
    own: bool
    components: tuple[Component, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """Where the sources stand: the built-in apps, the operator's ``own`` folders of apps, and their components.

    ``components`` is the folder of those that belong to no app.
    """

    own: Sequence[Path] = ()
    built_in: Path = BUILT_IN
    components: Path | None = None

    @classmethod
    def of(cls, data: Path) -> "Places":
        """Those of an installation with the folder ``data``."""
        return cls([data / "apps"], components=data / "components")

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of apps."""
        return (self.built_in, *self.own)


@dataclass(slots=True)
class Sources:
    """Everything that was found, the built-in apps first, and what could not be read, as ``path: sentence``."""

    apps: list[Source] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    categories: dict[str, Category] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read(places: Places) -> Sources:
    """Read the built-in folder, then the operator's own, each in the order of its names."""
    sources = Sources()
    for folder in places.folders:
        _read_categories(sources, folder)
        for file in _app_files(folder):
            _read_app(sources, file, own=folder != places.built_in)
    if places.components is not None:
        files = sorted(file for pattern in PATTERNS for file in places.components.glob(pattern))
        sources.components += components(files, places.components, None, sources.problems)
    return sources


def fingerprint(places: Places) -> str:
    """A hash over names and contents of every source file: it changes exactly when they do."""
    digests = [_digest(folder, _files(folder)) for folder in places.folders]
    if places.components is not None and (files := component_files(places.components)):
        digests.append(_digest(places.components, files))
    return hashlib.sha256("\1".join(digests).encode()).hexdigest()


def _digest(folder: Path, files: Iterable[Path]) -> str:
    digest, start = hashlib.sha256(), len(os.fspath(folder)) + 1
    for file in files:
        content = file.read_bytes()
        digest.update(f"{os.fspath(file)[start:]}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    yield from filter(Path.is_file, [folder / CATEGORIES])
    for file in _app_files(folder):
        yield from component_files(file.parent)


def _app_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*/app.toml") if file.is_file())


def _read_categories(sources: Sources, folder: Path) -> None:
    file = folder / CATEGORIES
    if not file.is_file():
        return
    for fields in (_load(sources, file, CATEGORIES) or {}).get("categories", []):
        try:
            category = Category.model_validate(fields)
        except ValidationError as error:
            sources.problems += _sentences(CATEGORIES, error)
            continue
        if category.slug in sources.categories:
            sources.problems.append(f"{CATEGORIES}: the category {category.slug} stands here twice.")
        sources.categories.setdefault(category.slug, category)


def _read_app(sources: Sources, file: Path, *, own: bool) -> None:
    label = f"{file.parent.name}/{file.name}"
    fields = _load(sources, file, label)
    if fields is None:
        return
    try:
        spec = AppSpec.model_validate(fields)
    except ValidationError as error:
        sources.problems += _sentences(label, error)
        return
    patterns = [f"{kinds}/{pattern}" for kinds in KINDS for pattern in PATTERNS]
    files = sorted(path for pattern in patterns for path in file.parent.glob(pattern))
    listed = components(files, file.parent.parent, spec.slug, sources.problems)
    sources.apps.append(Source(label, spec, own, tuple(listed)))


def _load(sources: Sources, file: Path, label: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        sources.problems.append(f"{label}: it cannot be read as TOML ({error}).")
        return None


def _sentences(label: str, error: ValidationError) -> Iterator[str]:
    for details in error.errors(include_url=False, include_input=False, include_context=False):
        place = ".".join(str(step) for step in details["loc"])
        message = details["msg"].removeprefix("Value error, ")
        yield f"{label}: {place + ': ' if place else ''}{message[:1].lower()}{message[1:]}."
