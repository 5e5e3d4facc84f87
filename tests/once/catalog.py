"""What is the same in all catalogs of a run, worked out once for all of them.

Of the built-in apps that is the hash of their files and what their components declare. Each is kept by everything that
it is made of, so that what a test changes is worked out anew.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from webapp.service.catalog import declaring
from webapp.service.catalog.component_files import Component
from webapp.service.catalog.declaring import Declare, Declared
from webapp.service.catalog.reading import fingerprints
from webapp.service.catalog.sources import BUILT_IN

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


def keep() -> None:
    """Begin to keep them, for as long as this process lasts."""
    fingerprints._digest = hashed_apps(fingerprints._digest)  # type: ignore[assignment]
    declaring.declared = declared_components(declaring.declared)  # type: ignore[assignment]


def _ships(component: Component) -> bool:
    return component.root == BUILT_IN and component.file.is_file()
