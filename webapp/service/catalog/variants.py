"""Variants: apps that connect another app in a different way, with ``of = "<slug>"`` in their ``app.toml``.

A variant declares its name and how it is connected, and inherits all other facts and all components of the other app.
The components work with the variant's accounts and have their own keys.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from webapp.service.catalog.component_files import Component
from webapp.service.catalog.component_keys import key_of, name_of
from webapp.service.catalog.spec import asks_piece
from webapp.service.components.pieces.form import is_piece

TAKEN = (
    "description", "categories", "logo", "docs_url", "sources", "base_url", "allowed_hosts", "headers", "test",
    "identity", "refusals",
)  # fmt: skip
SEEN = ("description", "categories", "logo", "docs_url", "sources")  # the facts that do not concern requests


def whole(fields: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """The ``fields`` of a variant's ``app.toml`` with those that it inherits from ``base``.

    If only one of the two is a piece's app, facts about requests are not inherited.
    """
    names = TAKEN if asks_piece(fields) == asks_piece(base) else SEEN
    return {**{name: base[name] for name in names if name in base}, **fields}


def only_joined(fields: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    """Whether the variant inherits only the components that joined ``base``, and not its own ones."""
    return asks_piece(fields) and not asks_piece(base)


def components(slug: str, of: str, files: Iterable[Component]) -> Iterator[Component]:
    """The components of the app ``of`` as components of its variant ``slug``."""
    for file in files:
        yield replace(file, key=key_of(slug, name_of(file.key, of)), app=slug, of=of)


def is_deaf(component: Component, declared: Iterable[Mapping[str, Any]], *, with_events: bool) -> bool:
    """Whether a component is a trigger for events of an app's OAuth clients, although its own app does not have such
    events (``with_events`` is False), such as a variant. Components that are written for one app are not checked, and
    those that poll need no events."""
    shared = bool(component.of) or is_piece(component.path)
    hooks = [prop for prop in declared if prop["type"] == "$.interface.apphook"]
    return shared and not with_events and any(not prop.get("polls") for prop in hooks)


def props(declared: Iterable[Mapping[str, Any]], component: Component) -> list[dict[str, Any]]:
    """The ``declared`` props of a component's file, with the component's own app as the app of its accounts."""
    return [_prop(prop, component) if component.of else dict(prop) for prop in declared]


def reloaded(props: Iterable[Mapping[str, Any]], declared: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The ``props`` that a component's code returned, which knows only the other app, with the apps of the ``declared``
    props."""
    apps = {prop["name"]: prop["app"] for prop in declared if prop["type"] == "app"}
    return [
        {**prop, "app": apps.get(prop["name"], prop["app"])} if prop["type"] == "app" else dict(prop) for prop in props
    ]


def _prop(prop: Mapping[str, Any], component: Component) -> dict[str, Any]:
    if prop["type"] == "app" and prop.get("app") == component.of:
        return {**prop, "app": component.app}
    return dict(prop)
