"""What is the same in all catalogs of a run, worked out once for all of them.

Of the built-in apps that is the hash of their files and what their components declare, and the catalog where there is
nothing else. Each is kept by everything that it is made of, so that what a test changes is worked out anew.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from webapp.service.catalog import build
from webapp.service.catalog import declarations as declaring
from webapp.service.catalog.build import BuildReport
from webapp.service.catalog.component_files import Component
from webapp.service.catalog.declarations import Declare, Declared
from webapp.service.catalog.sources import BUILT_IN, Places
from webapp.service.domain.base import catalog_file

Facts = Mapping[str, Mapping[str, Any]]
Declarations = tuple[list[Declared], list[str]]


def hashed_apps(digest: Callable[[Path, Iterable[Path]], str]) -> Callable[[Path, Iterable[Path]], str]:
    """The hash of the built-in apps, whose files no test changes."""
    kept: dict[Path, str] = {}

    def digest_once(folder: Path, files: Iterable[Path]) -> str:
        if folder != BUILT_IN:
            return digest(folder, files)
        if folder not in kept:
            kept[folder] = digest(folder, files)
        return kept[folder]

    return digest_once


def declared_components(
    declared: Callable[[Iterable[Component], Declare, Facts], Declarations],
) -> Callable[[Iterable[Component], Declare, Facts], Declarations]:
    """What built-in components declare, by their marks: as a catalog that is built again knows it from the last one."""
    kept: dict[str, Mapping[str, Any]] = {}

    def declare_once(components: Iterable[Component], declare: Declare, known: Facts) -> Declarations:
        declarations, problems = declared(components, declare, {**kept, **known})
        kept.update((item.mark, item.facts) for item in declarations if _ships(item.component))
        return declarations, problems

    return declare_once


def built_catalogs(
    ensure: Callable[[Path, Places, Declare | None], BuildReport],
) -> Callable[[Path, Places, Declare | None], BuildReport]:
    """The catalog of a new folder with nothing but the built-in apps: a copy of the first one."""
    kept: dict[str, Path] = {}
    folder = tempfile.TemporaryDirectory(prefix="catalogs-")

    def ensure_once(target: Path, places: Places, declare: Declare | None) -> BuildReport:
        if target.exists() or _has_own(places):
            return ensure(target, places, declare)
        mark = build._fingerprint(places)
        if mark not in kept:
            report = ensure(target, places, declare)
            kept[mark] = Path(shutil.copy(target, Path(folder.name, str(len(kept)))))
            return report
        shutil.copy(kept[mark], target)
        return ensure(target, places, declare)

    return ensure_once


def keep() -> None:
    """Begin to keep them, for as long as this process lasts."""
    catalog_file.ensure = built_catalogs(catalog_file.ensure)  # type: ignore[assignment, attr-defined]
    build._digest = hashed_apps(build._digest)  # type: ignore[assignment]
    declaring.declared = declared_components(declaring.declared)  # type: ignore[assignment]


def _has_own(places: Places) -> bool:
    """Whether there may be anything beside what ships."""
    others = (*places.folders, places.components)
    return places.built_in != BUILT_IN or any(folder and folder != BUILT_IN and folder.exists() for folder in others)


def _ships(component: Component) -> bool:
    return component.root == BUILT_IN and component.file.is_file()
