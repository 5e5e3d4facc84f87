"""Loads one component file by its path, in isolation, and reads its declaration.

``<folder>/<name>/<version>.py`` is loaded as the module ``<name>`` of the package ``<folder>``, under a unique name:
``from ..common import project`` imports the ``common.py`` next to ``actions/``, and versions share no modules. Loading
executes the file, so do it in an expendable process (the runner's ``declare``).
"""

import importlib.util
import itertools
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from webapp.service.components.authoring import Action, Component, Trigger
from webapp.service.components.errors import LoadError
from webapp.service.components.props import Prop

_KINDS = ("actions", "triggers")
HOOKS = ("deploy", "activate", "deactivate", "renew")
_fresh = itertools.count(1)


def load(path: Path) -> type[Component]:
    """Return the component class of the file at ``path``. Raises :class:`LoadError`, or whatever the file raises."""
    module = _execute(path)
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Action | Trigger) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise LoadError(f"The file must hold exactly one subclass of Action or Trigger; it holds {len(classes)}.")
    return classes[0]


def props_of(component: type[Component]) -> dict[str, Prop]:
    """The declared props by their names in the API, in order; those of base classes come first."""
    classes = [base for base in reversed(component.__mro__) if issubclass(base, Component)]
    props = {name: value for base in classes for name, value in vars(base).items() if isinstance(value, Prop)}
    return {_wire_name(name): prop for name, prop in props.items()}


def _wire_name(attribute: str) -> str:
    """The prop's name for a class attribute, without one trailing underscore."""
    return attribute.removesuffix("_")


def to_json(props: Mapping[str, Prop]) -> list[dict[str, Any]]:
    """``props`` as the API lists them."""
    return [prop.to_json(name) for name, prop in props.items()]


def alias_facts(aliases: Iterable[str], props: Mapping[str, Prop]) -> dict[str, Any]:
    """The aliases in a declaration: those of the component, and its props by their aliases."""
    by_alias = {alias: name for name, prop in props.items() for alias in prop.aliases}
    return {"aliases": list(aliases), "prop_aliases": by_alias}


def declaration(component: type[Component]) -> dict[str, Any]:
    """The catalog's entry for a component; ``app`` is the slug of its first app prop.

    ``kind`` is ``action``, or ``source`` for a trigger; ``hooks`` are those that the component implements.
    """
    props, hooks = props_of(component), HOOKS if issubclass(component, Trigger) else ()
    return {
        "kind": "action" if issubclass(component, Action) else "source",
        "name": component.name,
        "description": component.description,
        "app": next((prop.own["app"] for prop in props.values() if prop.type == "app"), None),
        "configurable_props": to_json(props),
        "annotations": dict(component.annotations) if issubclass(component, Action) else {},
        "has_reload": component.reload is not Component.reload,
        "dedupe": component.dedupe if issubclass(component, Trigger) else None,
        "hooks": [name for name in hooks if getattr(component, name) is not getattr(Trigger, name)],
        "stash": component.stash if issubclass(component, Action) else None,
        **alias_facts(component.aliases, props),
    }


def _execute(path: Path) -> ModuleType:
    name = f"{_package(path)}.{re.sub(r'[^A-Za-z0-9_]', '_', path.parent.name)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise LoadError(f"There is no component file {path.parent.name}/{path.name}.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _package(path: Path) -> str:
    """Register the folders above ``path`` as packages with unique names; return the name of the nearest."""
    folder = path.parent.parent
    root = f"_component_{next(_fresh)}"
    if folder.name not in _KINDS:
        return _stand_in(root, folder)
    return _stand_in(f"{_stand_in(root, folder.parent)}.{folder.name}", folder)


def _stand_in(name: str, place: Path) -> str:
    package = ModuleType(name)
    package.__path__ = [str(place)]
    package.__package__ = name
    sys.modules[name] = package
    return name
