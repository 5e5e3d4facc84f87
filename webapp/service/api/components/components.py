"""Components, actions and triggers (specification 2.5, 4.5): the lists, and one by its key or id, in any version.

The three nouns share everything but the kind that they admit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import orjson
from flask import Response

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Paged, Query
from webapp.service.catalog.components import ComponentFilter, ComponentInfo, Kind
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import scopes
from webapp.service.domain.components import components


@dataclass(frozen=True, slots=True)
class Noun:
    """One of the three path forms: the ``kind`` that it admits (None for both), and the scopes that open it."""

    path: str
    one: str
    kind: Kind | None
    scopes: tuple[str, ...]


NOUNS = (
    Noun("components", "component", None, (scopes.ACTIONS, scopes.TRIGGERS)),
    Noun("actions", "action", "action", (scopes.ACTIONS,)),
    Noun("triggers", "trigger", "trigger", (scopes.TRIGGERS,)),
)
READ = (scopes.ACTIONS, scopes.TRIGGERS)


class ComponentList(Paged):
    """Which components; ``app`` is a slug or an id."""

    q: str | None = None
    app: str | None = None
    component_type: Literal["action", "trigger"] | None = None
    registry: Literal["public", "private", "all"] | None = None


class Version(Query):
    """Which version; the highest release without one."""

    version: str | None = None


def index(noun: Noun) -> Callable[[Call], Response]:
    """The handler that lists a noun: the highest release of each, by name."""

    def handler(call: Call) -> Response:
        asked = call.query(ComponentList)
        kind = noun.kind or asked.component_type
        app = apps.slug_of(call.service, asked.app) if asked.app else None
        narrowed = ComponentFilter.of(asked.q, app, kind, asked.registry or "all")
        return answers.page(call.service.catalog.components(narrowed, asked.window), shape)

    return handler


def show(noun: Noun) -> Callable[[Call], Response]:
    """The handler that shows one of a noun."""

    def handler(call: Call) -> Response:
        version = call.query(Version).version or None
        found = components.find(call.service, call.path["component_id"], version, noun.kind)
        return answers.json({"data": shape(found)})

    return handler


def shape(component: ComponentInfo) -> orjson.Fragment:
    """A component as the API shows it."""
    return orjson.Fragment(component.json)


OPERATIONS = tuple(
    operation
    for noun in NOUNS
    for operation in (
        Operation(f"list_{noun.path}", "GET", f"P/{noun.path}", index(noun), READ, query=ComponentList),
        Operation(f"get_{noun.one}", "GET", f"P/{noun.path}/<component:component_id>", show(noun), READ, query=Version),
    )
)
