"""Reads what every component file declares. The runner loads components with code in its own process; declared
components (data) and parts of pieces are read here.

A file that cannot be loaded, or has an invalid declaration, is reported as a problem and left out.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webapp.errors import Unavailable
from webapp.service.catalog import aliases, registry_keys, variants
from webapp.service.catalog.component_files import Component
from webapp.service.catalog.components import release
from webapp.service.catalog.sources import BUILT_IN, Source
from webapp.service.catalog.tables import packed
from webapp.service.components import authoring, loader, prop_types, props
from webapp.service.components.calls import Call, Reply
from webapp.service.components.declared import definition, source
from webapp.service.components.pieces import form as pieces

Declare = Callable[[Call], Reply]
DEADLINE_S = 20.0
AT_ONCE = 4
SHARED = BUILT_IN.parent / "shared"
_KIND_OF_PIECE_PART = {"action": "action", "source": "trigger"}
FORMS = (*sorted(Path(definition.__file__).parent.glob("*.py")), Path(pieces.__file__))
"""The modules that read declared components and parts of pieces."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A component file and its declaration. ``mark`` changes whenever the declaration may have changed."""

    component: Component
    kind: str
    facts: dict[str, Any]
    mark: str

    def row(self, beside: Path, keys: registry_keys.Keys) -> dict[str, Any]:
        """The row for the catalog; its ``root`` is relative to the folder ``beside``, or None for the built-in one.

        ``keys`` are those of the public registry that the app answers.
        """
        component, facts = self.component, self.facts
        known = {prop["name"] for prop in facts["configurable_props"]} | {registry_keys.UNUSED}
        of_registry = {prop: ours for prop, ours in registry_keys.props(keys, component.name).items() if ours in known}
        return {
            "key": component.key,
            "version": component.version,
            "kind": self.kind,
            "app": component.app or facts["app"],
            "name": facts["name"],
            "description": facts["description"],
            "configurable_props": packed(variants.props(facts["configurable_props"], component)),
            "annotations": packed(facts["annotations"]),
            "has_reload": int(facts["has_reload"]),
            "dedupe": facts["dedupe"],
            "hooks": packed(facts["hooks"]),
            "stash": facts["stash"],
            "tag": facts.get("tag", ""),
            "aliases": packed(
                {
                    "names": [*facts["aliases"], *registry_keys.names(keys, component.name)],
                    "props": {**of_registry, **facts["prop_aliases"]},
                }
            ),
            "root": None if component.root == BUILT_IN else os.path.relpath(component.root, beside),
            "path": component.path,
        }


def forms_digest() -> str:
    """A hash of the authoring API, on which declarations depend besides the files themselves."""
    modules = [Path(module.__file__ or "") for module in (authoring, loader, prop_types, props)]
    digest = hashlib.sha256()
    for file in (*modules, *sorted(SHARED.glob("*.py")), *FORMS):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def declared(
    components: Iterable[Component], declare: Declare, known: Mapping[str, Mapping[str, Any]]
) -> tuple[list[Declared], list[str]]:
    """The declarations of ``components``, and the problems of the others as ``path: sentence``.

    ``known`` are earlier declarations by their marks, whose files are not loaded again. Raises :class:`Unavailable` if
    the runner cannot be called, because a catalog without these components would be wrong.
    """
    authoring_api, problems = forms_digest(), list[str]()
    marks = {component: _mark(component, authoring_api) for component in components}
    declarations = [_declared(file, known[mark], mark) for file, mark in marks.items() if mark in known]
    files = [file for file, mark in marks.items() if mark not in known]
    code = [file for file in files if not is_data(file)]
    replies = _replies(code, declare)
    judged = [(file, reply.value, _wrong(file, reply)) for file, reply in zip(code, replies, strict=True)]
    judged += [(file, *examine(file)) for file in files if is_data(file)]
    for component, facts, wrong in judged:
        problems += [f"{component.path}: {sentence}" for sentence in wrong if component.of is None]
        if not wrong:
            declarations.append(_declared(component, facts or {}, marks[component]))
    clashing = aliases.problems((declaration.component, declaration.facts) for declaration in declarations)
    problems += _lines(clashing)
    return [declaration for declaration in declarations if declaration.component not in clashing], problems


def faults(components: Iterable[Component], declare: Declare, apps: Iterable[Source] = ()) -> list[str]:
    """All problems of ``components`` as ``path: sentence``; see :func:`examined`. Raises :class:`Unavailable`."""
    return examined(components, declare, apps)[1]


def examined(
    components: Iterable[Component], declare: Declare, apps: Iterable[Source] = ()
) -> tuple[list[tuple[Component, dict[str, Any]]], list[str]]:
    """The declarations of ``components``, without those of variants, and all of their problems as ``path: sentence``,
    including those that the checker finds, and of the registry's keys of ``apps``.

    Raises :class:`Unavailable`.
    """
    files = [component for component in components if component.of is None]
    messages, declared_facts = list[str](), list[tuple[Component, Any]]()
    code = [file for file in files if not is_data(file)]
    for component, reply in zip(code, _replies(code, declare), strict=True):
        wrong = [*_wrong(component, reply), *(reply.value["problems"] if reply.value else ())]
        messages += [f"{component.path}: {sentence}" for sentence in dict.fromkeys(wrong)]
        declared_facts.append((component, reply.value))
    for component in files:
        if is_data(component):
            facts, wrong = examine(component)
            messages += [f"{component.path}: {sentence}" for sentence in wrong]
            declared_facts.append((component, facts))
    sound = [(file, facts) for file, facts in declared_facts if facts]
    messages += [*_lines(aliases.problems(sound)), *registry_lines(registry_problems(apps, sound))]
    return sound, messages


def registry_problems(
    apps: Iterable[Source], facts: Iterable[tuple[Component, Mapping[str, Any]]]
) -> dict[str, dict[str, list[str]]]:
    """The problems of the registry's keys of ``apps``, as sentences by key, by the slug of the app.

    ``facts`` are the declarations of components. A variant has the keys of the app whose variant it is.
    """
    newest: dict[str, dict[str, tuple[Component, Mapping[str, Any]]]] = {}
    for component, declaration in facts:
        if component.app is None or component.of is not None:
            continue
        of_app, name = newest.setdefault(component.app, {}), component.name
        if name not in of_app or release(of_app[name][0].version) < release(component.version):
            of_app[name] = (component, declaration)
    judged = {}
    for app in apps:
        if app.keys and app.of is None:
            components = {name: declaration for name, (_, declaration) in newest.get(app.spec.slug, {}).items()}
            if wrong := registry_keys.problems(app.keys, components):
                judged[app.spec.slug] = wrong
    return judged


def registry_lines(problems: Mapping[str, Mapping[str, Iterable[str]]]) -> list[str]:
    """The result of :func:`registry_problems` as ``path: sentence``."""
    return [
        f"{slug}/{registry_keys.FILE}: {key}: {sentence}"
        for slug, of_app in problems.items()
        for key, sentences in of_app.items()
        for sentence in sentences
    ]


def _lines(problems: Mapping[Component, Iterable[str]]) -> list[str]:
    return [f"{component.path}: {sentence}" for component, wrong in problems.items() for sentence in wrong]


def _wrong(component: Component, reply: Reply) -> list[str]:
    return [reply.error.message] if reply.error else list(_problems(component, reply.value))


def _declared(component: Component, facts: Mapping[str, Any], mark: str) -> Declared:
    return Declared(component, _KIND_OF_PIECE_PART[facts["kind"]], dict(facts), mark)


def _mark(component: Component, authoring_api: str) -> str:
    """A text that changes whenever the component's declaration may have; ``authoring_api`` is its hash."""
    return f"{component.path} {component.digest} {authoring_api}"


def _replies(files: list[Component], declare: Declare) -> list[Reply]:
    calls = [Call(path=str(file.file), method="declare", deadline_s=DEADLINE_S) for file in files]
    replies = []
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        for reply in pool.map(declare, calls):
            if reply.error is not None and reply.error.kind == "runner":
                raise Unavailable(f"The catalog cannot be built: {reply.error.message}")
            replies.append(reply)
    finally:
        pool.shutdown(cancel_futures=True)
    return replies


def _problems(component: Component, facts: dict[str, Any]) -> Iterator[str]:
    kind = _KIND_OF_PIECE_PART[facts["kind"]]
    if component.kind not in (None, kind):
        yield f"it holds {_a(kind)}, but stands in the folder of {component.kind}s."
    if not (isinstance(facts["name"], str) and facts["name"]):
        yield "it has no name; say what it is called."
    if not isinstance(facts["description"], str):
        yield "its description must be text."


def _a(kind: str) -> str:
    return "an action" if kind == "action" else "a trigger"


def is_data(component: Component) -> bool:
    """Whether its declaration can be read from its file without running code."""
    return source.is_declared(component.path) or pieces.is_piece(component.path)


def examine(component: Component) -> tuple[dict[str, Any] | None, list[str]]:
    """Its declaration, as the catalog stores it, and all problems as ``line 3: sentence``."""
    if source.is_declared(component.path):
        return definition.examine(component.file)
    facts, problems = pieces.examine(component.file)
    if facts and component.kind not in (None, _KIND_OF_PIECE_PART[facts["kind"]]):
        problems = ["It stands in the folder of another kind."]
    return facts, problems
