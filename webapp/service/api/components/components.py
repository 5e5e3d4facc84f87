"""Components, actions and triggers (contract "Components"): the lists, and one by its key or id, in any version.

The three nouns share everything but the kind of component that they admit.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import orjson
from flask import Response
from pydantic import Field

from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import AppName, Data, Extensions, Page, Paged, Query, SearchWords
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.api.components import models
from webapp.service.catalog.components import ComponentFilter, ComponentInfo, Kind
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import scopes
from webapp.service.domain.components import requests
from webapp.service.domain.instance.pieces import origins


@dataclass(frozen=True, slots=True)
class Noun:
    """One of the three path forms: the ``kind`` that it admits (None for both), and the scopes that open it."""

    path: str
    singular: str
    kind: Kind | None
    scopes: tuple[str, ...]
    group: Group


COMPONENTS = Noun(
    "components",
    "component",
    None,
    (scopes.ACTIONS, scopes.TRIGGERS),
    Group("Components", "Actions and triggers together, by one address."),
)
ACTIONS = Noun(
    "actions",
    "action",
    "action",
    (scopes.ACTIONS,),
    Group("Actions", "What can be done in an app: list actions, ask what a field offers, run one."),
)
TRIGGERS = Noun(
    "triggers",
    "trigger",
    "trigger",
    (scopes.TRIGGERS,),
    Group("Triggers", "What an app can tell you about: list triggers, ask what a field offers, deploy one."),
)
NOUNS = (COMPONENTS, ACTIONS, TRIGGERS)
COMPONENT_ID = PathParameter("component_id", "The component's key or id (`sc_…`).", "sandbox-create-task")
READ = (scopes.ACTIONS, scopes.TRIGGERS)
LIST_EXAMPLES = {
    "components": Example(query={"app": "sandbox"}),
    "actions": Example(query={"q": "create task"}),
    "triggers": Example(query={"app": "sandbox"}),
}
GET_EXAMPLES = {
    "components": Example(),
    "actions": Example(query={"version": "0.0.1"}),
    "triggers": Example(path={"component_id": "sandbox-new-task"}),
}

ComponentVersion = Annotated[str | None, Field(description="A version; the highest release unless given.")]


class ComponentList(Paged):
    """Which components; ``app`` is a slug or an id."""

    q: SearchWords = None
    app: AppName = None
    component_type: Literal["action", "trigger"] | None = Field(None, description="Only one kind.")
    registry: Literal["public", "private", "all"] | None = Field(
        None, description="Only the built-in components, or only the operator's own."
    )


class Version(Query):
    """Which version; the highest release without one."""

    version: ComponentVersion = None
    extensions: Extensions = False


def index(noun: Noun, call: Call) -> Response:
    """The highest release of each, by name."""
    query = call.query(ComponentList)
    kind = noun.kind or query.component_type
    app = apps.slug_of(call.service, query.app) if query.app else None
    component_filter = ComponentFilter.of(query.q, app, kind, query.registry or "all")
    return answer_page(call.service.catalog.components(component_filter, query.window), to_json)


def show(noun: Noun, call: Call) -> Response:
    """One of them, in its highest release or the version that is named."""
    version = call.query(Version).version or None
    component = requests.find(call.service, call.path["component_id"], version, noun.kind)
    if not call.query(Version).extensions:
        return answer({"data": to_json(component)})
    origin = origins.of_component(call.store, component)
    return answer({"data": {**orjson.loads(component.json), "patchbay": {"piece": origin and origin.to_json()}}})


def to_json(component: ComponentInfo) -> orjson.Fragment:
    """A component as the API shows it."""
    return orjson.Fragment(component.json)


def _operations(noun: Noun) -> Operations:
    declared = Operations(noun.group, COMPONENT_ID)
    declared.get(
        f"P/{noun.path}",
        answer=Page[models.Component],
        scopes=READ,
        query=ComponentList,
        limit="tools",
        example=LIST_EXAMPLES[noun.path],
        name=f"list_{noun.path}",
    )(partial(index, noun))
    declared.get(
        f"P/{noun.path}/<component:component_id>",
        answer=Data[models.ComponentDetails],
        scopes=READ,
        query=Version,
        limit="tools",
        example=GET_EXAMPLES[noun.path],
        name=f"get_{noun.singular}",
    )(partial(show, noun))
    return declared


operations = [operation for noun in NOUNS for operation in _operations(noun)]
