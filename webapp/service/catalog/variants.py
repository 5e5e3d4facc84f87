"""Apps that are another way to connect one that stands: ``of = "<slug>"`` in their ``app.toml``.

Such an app says its name and how it is connected, and takes what it does not say itself from the other one, with all
of that one's components. They work with its accounts, under its own keys.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from webapp.service.catalog.component_files import Component
from webapp.service.catalog.spec import asks_piece
from webapp.service.components.pieces.form import is_piece

TAKEN = (
    "description", "categories", "logo", "docs_url", "sources", "base_url", "allowed_hosts", "headers", "test",
    "identity", "refusals",
)  # fmt: skip
SEEN = ("description", "categories", "logo", "docs_url", "sources")  # which tell nothing of requests


def whole(fields: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` of an ``app.toml`` with what it takes from ``base``, the other one. Where a package brought one of
    the two, the requests of the other are none of its own."""
    names = TAKEN if asks_piece(fields) == asks_piece(base) else SEEN
    return {**{name: base[name] for name in names if name in base}, **fields}


def only_joined(fields: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    """Whether of the components of ``base`` those alone that joined it work with accounts of the other."""
    return asks_piece(fields) and not asks_piece(base)


def components(slug: str, of: str, files: Iterable[Component]) -> Iterator[Component]:
    """The components of the app ``of`` as those of the app ``slug``."""
    for file in files:
        yield replace(file, key=f"{slug}-{file.key.removeprefix(f'{of}-')}", app=slug, of=of)


def is_deaf(component: Component, declared: Iterable[Mapping[str, Any]], *, told: bool) -> bool:
    """Whether it is a trigger that hears what an app tells its OAuth clients, while those of its own app are ``told``
    nothing: such as that of another way to connect. What is written for one app alone is its author's matter."""
    shared = bool(component.of) or is_piece(component.path)
    return shared and not told and any(prop["type"] == "$.interface.apphook" for prop in declared)


def props(declared: Iterable[Mapping[str, Any]], component: Component) -> list[dict[str, Any]]:
    """``declared`` props of a component's file, whose accounts are of the component's own app."""
    return [_prop(prop, component) if component.of else dict(prop) for prop in declared]


def reloaded(props: Iterable[Mapping[str, Any]], declared: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """``props`` that the code of a component gave, which knows the other app alone, with the apps that ``declared``
    ones of the component have."""
    apps = {prop["name"]: prop["app"] for prop in declared if prop["type"] == "app"}
    return [
        {**prop, "app": apps.get(prop["name"], prop["app"])} if prop["type"] == "app" else dict(prop) for prop in props
    ]


def _prop(prop: Mapping[str, Any], component: Component) -> dict[str, Any]:
    if prop["type"] == "app" and prop.get("app") == component.of:
        return {**prop, "app": component.app}
    return dict(prop)
