"""What is the same in all catalogs of a run, worked out once for all of them.

That is the hash of what ships, what its components declare, their rows and words, the catalog of a folder that holds
the same as an earlier one, and the apps that are read from a file with several names. Each is kept by everything that
it is made of, so that what a test changes is worked out anew.
"""

import copy
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from webapp.kit.scratch import Scratch
from webapp.service.catalog import build, check, hosted_servers, index, logos, registry_keys, sources, tool_search
from webapp.service.catalog import declarations as declaring
from webapp.service.catalog.build import BuildReport
from webapp.service.catalog.component_files import Component
from webapp.service.catalog.components import component
from webapp.service.catalog.declarations import Declare, Declared
from webapp.service.catalog.index import _Contents
from webapp.service.catalog.registry_keys import Keys
from webapp.service.catalog.source_files import SourceFolder
from webapp.service.catalog.sources import BUILT_IN, Files, Places
from webapp.service.catalog.spec import AppSpec
from webapp.service.domain.base import catalog_file

Variables = Mapping[str, str]
Facts = Mapping[str, Mapping[str, Any]]
Row = dict[str, Any]
Declarations = tuple[list[Declared], list[str]]
KEPT = 32
"""Catalogs, of several megabytes each."""
_lasting: dict[int, object] = {}
"""What was made of files that ship, by its identity: nobody changes it, and it lasts as long as the run."""
DECLARED = Path(__file__).parents[2] / ".pytest_cache" / "declared.json"
FRESH = "PATCHBAY_TEST_FRESH"
"""The variable that has a run neither read nor write :data:`DECLARED`, whatever its value."""


def files_of_apps(look: Callable[..., SourceFolder]) -> Callable[..., SourceFolder]:
    """The files of the built-in apps, which no test changes."""
    kept: dict[Path, SourceFolder] = {}

    def look_once(root: Path, *endings: tuple[str, ...]) -> SourceFolder:
        if root != BUILT_IN:
            return look(root, *endings)
        if root not in kept:
            kept[root] = look(root, *endings)
        return kept[root]

    return look_once


def declared_components(
    declared: Callable[[Iterable[Component], Declare, Facts], Declarations],
) -> Callable[[Iterable[Component], Declare, Facts], Declarations]:
    """What built-in components declare, by their marks: as a catalog that is built again knows it from the last one.

    It is most of what a catalog takes, and so a later run knows it, too (:data:`DECLARED`).
    """
    kept: dict[str, Mapping[str, Any]] = _read_declared()

    def declare_once(components: Iterable[Component], declare: Declare, known: Facts) -> Declarations:
        declarations, problems = declared(components, declare, {**kept, **known})
        shipped = {item.mark: item.facts for item in declarations if item.mark not in kept and _ships(item.component)}
        if shipped:
            kept.update(shipped)
            _write_declared(shipped)
        return declarations, problems

    return declare_once


def _read_declared() -> dict[str, Mapping[str, Any]]:
    if FRESH in os.environ:
        return {}
    try:
        read: dict[str, Mapping[str, Any]] = json.loads(DECLARED.read_text())
    except (OSError, ValueError):
        return {}
    return read


def _write_declared(facts: Facts) -> None:
    if FRESH not in os.environ:
        DECLARED.parent.mkdir(exist_ok=True)
        with Scratch(".declared-", DECLARED.parent) as folder:
            draft = folder / DECLARED.name
            draft.write_text(json.dumps(facts))
            draft.replace(DECLARED)


def of_built_in(read: Callable[..., Any]) -> Callable[..., Any]:
    """What is read of a built-in app by its path and other texts; anything with a problem is read again."""
    kept: dict[tuple[object, ...], Any] = {}
    inside = f"{BUILT_IN}/"

    def read_once(*arguments: Any) -> Any:
        key = tuple(each for each in arguments if isinstance(each, str | Path))
        if not any(isinstance(each, Path) and str(each).startswith(inside) for each in key):
            return read(*arguments)
        if key not in kept:
            problems: list[str] = next((getattr(each, "problems", each) for each in arguments if each not in key), [])
            before, result = len(problems), read(*arguments)
            result = tuple(result) if isinstance(result, Iterator) else result
            if len(problems) > before:
                return result
            kept[key] = result
        return kept[key]

    return read_once


def derived(read: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    """What is made of the same fields, kept by :func:`of_built_in`, so that :func:`specs` knows it, too."""
    kept: dict[int, tuple[dict[str, Any], Any]] = {}

    def read_once(fields: dict[str, Any]) -> Any:
        before = kept.get(id(fields))
        if before is not None and before[0] is fields:
            return before[1]
        result = read(fields)
        if len(kept) < 1000:  # those of an operator are new each time
            kept[id(fields)] = fields, result
        return result

    return read_once


def specs(validate: Callable[[Mapping[str, Any]], AppSpec]) -> Callable[[Mapping[str, Any]], AppSpec]:
    """What the same fields, kept by :func:`of_built_in`, say of an app."""
    kept: dict[int, tuple[Mapping[str, Any], AppSpec]] = {}

    def validate_once(fields: Mapping[str, Any]) -> AppSpec:
        before = kept.get(id(fields))
        if before is not None and before[0] is fields:
            return before[1]
        spec = validate(fields)
        if len(kept) < 1000:  # those of a variant or of an operator are new each time
            kept[id(fields)] = fields, spec
            _lasting[id(spec)] = spec
        return spec

    return validate_once


def breaches(judge: Callable[..., Iterator[str]]) -> Callable[..., Iterable[str]]:
    """What is wrong with the specs of :func:`specs` among the same categories."""
    kept: dict[tuple[object, ...], tuple[AppSpec, tuple[str, ...]]] = {}

    def judge_once(spec: AppSpec, categories: Mapping[str, Any], *, own: bool) -> Iterable[str]:
        key = id(spec), frozenset(categories), own
        if key not in kept:
            result = tuple(judge(spec, categories, own=own))
            if own or len(kept) >= 1000:
                return result
            kept[key] = spec, result
        return kept[key][1]

    return judge_once


def rows(row: Callable[[Declared, Path, Keys], Row]) -> Callable[[Declared, Path, Keys], Row]:
    """The row of a component that ships, by its mark, while its app answers the same keys of the registry."""
    kept: dict[tuple[Component, str], tuple[Keys, Row]] = {}

    def row_once(declared: Declared, beside: Path, keys: Keys) -> Row:
        if declared.component.root != BUILT_IN:
            return row(declared, beside, keys)
        before = kept.get((declared.component, declared.mark))
        if before is None or before[0] != keys:
            before = kept[declared.component, declared.mark] = keys, row(declared, beside, keys)
            _lasting[id(before[1])] = before[1]
        return before[1]

    return row_once


def of_lasting(work: Callable[..., Any]) -> Callable[..., Any]:
    """What is made of one row of :func:`rows`, or of one app of :func:`specs`, or of both."""
    kept: dict[tuple[int, ...], Any] = {}

    def work_once(*arguments: object) -> Any:
        key = tuple(map(id, arguments))
        if key in kept:
            return kept[key]
        result = work(*arguments)
        if all(argument is None or id(argument) in _lasting for argument in arguments):
            kept[key] = result
        return result

    return work_once


def built_catalogs(
    ensure: Callable[[Path, Places, Declare | None], BuildReport],
) -> Callable[[Path, Places, Declare | None], BuildReport]:
    """The catalog of a folder that holds the same apps, components and pieces as an earlier one: that one's file."""
    kept: dict[tuple[str, ...], tuple[Path, BuildReport]] = {}
    folder = tempfile.TemporaryDirectory(prefix="catalogs-")

    def ensure_once(target: Path, places: Places, declare: Declare | None) -> BuildReport:
        if not _lies_beside(target, places):
            return ensure(target, places, declare)
        fingerprint, existing = build._fingerprint(Files.of(places)), build._existing(target)
        if existing is not None and existing.fingerprint == fingerprint:
            return existing
        key = (fingerprint, *(os.path.relpath(path, target.parent) for path in _own(places)))
        if key not in kept:
            report = ensure(target, places, declare)
            if len(kept) < KEPT:
                kept[key] = _named(target, Path(folder.name, str(len(kept)))), report
            return report
        file, report = kept[key]
        with Scratch(".catalog-", target.parent) as draft:
            _named(file, draft / target.name).replace(target)
        return report

    return ensure_once


def linked(catalog: Path, folder: Path) -> None:
    """Put ``catalog`` into ``folder`` as a second name of the same file, since no catalog is ever written to; it takes
    the place of one that is there."""
    (folder / catalog.name).unlink(missing_ok=True)
    _named(catalog, folder / catalog.name)


def _named(catalog: Path, name: Path) -> Path:
    """``name`` as a second name of the file ``catalog``, or as its copy on another disk."""
    try:
        name.hardlink_to(catalog)
    except OSError:
        shutil.copy(catalog, name)
    return name


def read_contents(read: Callable[[Path, str, Variables], _Contents]) -> Callable[[Path, str, Variables], _Contents]:
    """The contents of a file with several names, read once for all of them; only components differ, by its folder."""
    kept: dict[tuple[object, ...], _Contents] = {}

    def read_once(path: Path, public_url: str, variables: Variables) -> _Contents:
        facts = path.stat()
        if facts.st_nlink == 1:
            return read(path, public_url, variables)
        key = (facts.st_dev, facts.st_ino, facts.st_mtime_ns, public_url, *sorted(variables.items()))
        contents = copy.copy(kept.get(key) or kept.setdefault(key, read(path, public_url, variables)))
        contents.close = lambda: None  # type: ignore[assignment]
        contents.components = components = copy.copy(contents.components)
        components._make = partial(component, variables=dict(variables), folder=path.absolute().parent)
        components.get = lru_cache(maxsize=None)(components._get)
        return contents

    return read_once


def keep() -> None:
    """Begin to keep them, for as long as this process lasts."""
    index._Contents = read_contents(index._Contents)  # type: ignore[misc, assignment]
    logos.source, declaring.forms_digest = cache(logos.source), cache(declaring.forms_digest)
    catalog_file.ensure = built_catalogs(catalog_file.ensure)  # type: ignore[assignment, attr-defined]
    sources.look = files_of_apps(sources.look)  # type: ignore[attr-defined]
    declaring.declared = declared_components(declaring.declared)  # type: ignore[assignment]
    sources._load, sources._components_beside = of_built_in(sources._load), of_built_in(sources._components_beside)
    hosted_servers.own_facts = derived(hosted_servers.own_facts)  # type: ignore[assignment]
    hosted_servers.server_facts = derived(hosted_servers.server_facts)  # type: ignore[assignment]
    check.breaches = breaches(check.breaches)  # type: ignore[assignment]
    registry_keys.load = of_built_in(registry_keys.load)
    Declared.row = rows(Declared.row)  # type: ignore[assignment]
    build._facts, build._component_words = of_lasting(build._facts), of_lasting(build._component_words)
    build._app_facts, tool_search._words = of_lasting(build._app_facts), of_lasting(tool_search._words)
    setattr(sources, "AppSpec", SimpleNamespace(model_validate=specs(AppSpec.model_validate)))  # noqa: B010


def _lies_beside(target: Path, places: Places) -> bool:
    """Whether all that does not ship is below the folder of ``target``, so that the catalog names it from there."""
    return places.built_in == BUILT_IN and all(path.is_relative_to(target.parent) for path in _own(places))


def _own(places: Places) -> list[Path]:
    return [path for path in (*places.own, places.components, places.pieces) if path is not None]


def _ships(component: Component) -> bool:
    return component.root == BUILT_IN and component.file.is_file()
