"""Reading the sources of a catalog: folders of apps, each ``<slug>/app.toml`` with its components, and categories.

An operator's own components may also stand outside any app, as ``<name>/<version>.py`` in a folder of their own.

A file that cannot be read becomes a problem and is left out; the rest goes on. What is wrong between the facts of
a file that can be read is ``check``'s to find.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webapp.service.catalog.component_files import PATTERNS, Component, components
from webapp.service.catalog.facts import variants
from webapp.service.catalog.own_apps import with_sources
from webapp.service.catalog.reading import joined
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

    ``components`` is the folder of those that belong to no app, ``pieces`` that of the apps of installed pieces.
    """

    own: Sequence[Path] = ()
    built_in: Path = BUILT_IN
    components: Path | None = None
    pieces: Path | None = None

    @classmethod
    def of(cls, data: Path) -> "Places":
        """Those of an installation with the folder ``data``."""
        return cls([data / "apps"], components=data / "components", pieces=data / "pieces" / "apps")

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of apps."""
        return (self.built_in, *self.own, *([self.pieces] if self.pieces else []))


@dataclass(slots=True)
class Sources:
    """Everything that was found, the built-in apps first, and what could not be read, as ``path: sentence``."""

    apps: list[Source] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)
    categories: dict[str, Category] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def read(places: Places) -> Sources:
    """Read the built-in folder, then the operator's own, each in the order of its names."""
    sources, drafts = Sources(), list[_Draft]()
    for folder in places.folders:
        _read_categories(sources, folder)
        drafts += _drafts(sources, folder, own=folder != places.built_in)
    apps = [draft for draft in drafts if joined.target(draft.fields) is None]
    by_slug = {draft.fields.get("slug"): draft for draft in reversed(apps)}
    joining = _joining(sources, drafts, by_slug)
    for draft in apps:
        _read_app(sources, draft, by_slug, joining)
    if places.components is not None:
        files = sorted(file for pattern in PATTERNS for file in places.components.glob(pattern))
        sources.components += components(files, places.components, None, sources.problems)
    return sources


def categories(places: Places) -> dict[str, Category]:
    """The shelves that apps may stand on, by slug."""
    read = Sources()
    for folder in places.folders:
        _read_categories(read, folder)
    return read.categories


def app_files(folder: Path) -> list[Path]:
    """The ``app.toml`` of each app in ``folder``."""
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


@dataclass(frozen=True, slots=True)
class _Draft:
    """One ``app.toml`` as it was read."""

    file: Path
    fields: dict[str, Any]
    own: bool

    @property
    def label(self) -> str:
        return f"{self.file.parent.name}/{self.file.name}"

    @property
    def of(self) -> str | None:
        """The slug of the app that it is another way to connect."""
        of = self.fields.get("of")
        return of if isinstance(of, str) else None


def _drafts(sources: Sources, folder: Path, *, own: bool) -> Iterator[_Draft]:
    for file in app_files(folder):
        fields = _load(sources, file, f"{file.parent.name}/{file.name}")
        if fields is not None:
            yield _Draft(file, fields, own)


def _joining(sources: Sources, drafts: Iterable[_Draft], by_slug: Mapping[Any, _Draft]) -> dict[str, list[Component]]:
    """The components that join an app whose ``app.toml`` stands elsewhere, by its slug."""
    joining: dict[str, list[Component]] = {}
    for draft in drafts:
        slug = joined.target(draft.fields)
        if slug is not None and slug in by_slug:
            joining.setdefault(slug, []).extend(joined.beside(draft.file, slug, sources.problems))
        elif slug is not None:
            sources.problems.append(f"{draft.label}: joins: there is no app {slug}.")
    return joining


def _read_app(
    sources: Sources, draft: _Draft, by_slug: Mapping[Any, _Draft], joining: Mapping[str, list[Component]]
) -> None:
    base = by_slug.get(draft.of) if draft.of else None
    if draft.of and (base is None or base.of or base is draft):
        sources.problems.append(f"{draft.label}: of: there is no app {draft.of} that is connected in a way of its own.")
        return
    fields = variants.whole(draft.fields, base.fields) if base else draft.fields
    try:
        spec = AppSpec.model_validate(with_sources(fields) if draft.own else fields)
    except ValidationError as error:
        sources.problems += _sentences(draft.label, error)
        return
    own = joined.beside(draft.file, spec.slug, sources.problems)
    listed = joined.added(own, joining.get(spec.slug, ()), sources.problems)
    if base and draft.of:
        more = joining.get(draft.of, ())
        of_base = () if variants.only_joined(draft.fields, base.fields) else joined.beside(base.file, draft.of, [])
        listed_of_base = joined.added(of_base, more, [])
        listed += variants.components(spec.slug, draft.of, listed_of_base)
    sources.apps.append(Source(draft.label, spec, draft.own, tuple(listed)))


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
