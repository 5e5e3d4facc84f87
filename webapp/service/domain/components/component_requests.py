"""The request for a call of a component: which component and version it names, and the props that apply to it."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

from webapp.errors import Invalid, NotFound
from webapp.service.catalog.components import ComponentInfo, Kind
from webapp.service.catalog.registry_keys import UNUSED
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import dynamic_props
from webapp.service.domain.projects.projects import Scene

Prop = Mapping[str, Any]
_SINGLE = ("string", "integer", "boolean")


@dataclass(frozen=True, slots=True)
class ComponentRequest:
    """The request for a call of a component for ``external_id``, with the values given so far.

    ``stash_id`` names the stash that keeps the files of a run; without one they are deleted. ``agent`` is the name of
    the calling agent, if any.
    """

    scene: Scene
    external_id: str
    component: ComponentInfo
    configured: Mapping[str, Any] = field(repr=False)
    dynamic_props_id: str | None = None
    stash_id: str | None = None
    agent: str | None = None


def find(service: Service, key_or_id: str, version: str | None, kind: Kind | None = None) -> ComponentInfo:
    """The component by any of its keys or ``sc_…``: exactly ``version``, or the highest release.

    Raises :class:`NotFound`.
    """
    component = service.catalog.component(key_or_id, version)
    if component is None or kind not in (None, component.kind):
        noun = kind or "component"
        in_version = f" in version {version}" if version is not None else ""
        raise NotFound(f"There is no such {noun}{in_version}; look its key up in the list of {noun}s.")
    return component


def by_own_names(
    component: ComponentInfo | None, configured: Mapping[str, Any], added: Callable[[], Sequence[Prop]] = tuple
) -> Mapping[str, Any]:
    """``configured`` with each value under its prop's own name, if it was sent under an alias.

    A value that the component does without (:data:`registry_keys.UNUSED`) is left out. A list of one item is taken as
    that item by a prop with a single value, a single value as a list by a prop with several, and a whole number as text
    by a prop of text. ``added`` gives the props that a reload has added, which have no aliases.
    """
    if component is None or component.prop_aliases.keys().isdisjoint(configured):
        return configured
    taken, types = {prop["name"] for prop in added()}, {prop["name"]: prop["type"] for prop in component.props}
    aliases = {alias: name for alias, name in component.prop_aliases.items() if alias not in taken}
    named = {name: value for name, value in configured.items() if name not in aliases}
    for alias, value in configured.items():
        name = aliases.get(alias, alias)
        if name in configured:
            named.setdefault(alias, value)
        elif name != UNUSED:
            named.setdefault(name, value if name == alias else _in_shape(types.get(name, ""), value))
    return named


def _in_shape(type_: str, value: Any) -> Any:
    """``value`` as a list for a list prop, and the only item of a list for another prop."""
    if type_.endswith("[]"):
        return value if isinstance(value, list | dict | NoneType) else [value]
    if type_ in _SINGLE and isinstance(value, list) and len(value) == 1:
        (value,) = value
    return str(value) if type_ == "string" and type(value) is int else value


def reloaded(
    service: Service, scene: Scene, external_id: str, component: ComponentInfo, dynamic_props_id: str | None
) -> Callable[[], Sequence[Prop]]:
    """A function that returns the reloaded props of an id. It raises :class:`NotFound` for an unknown id."""
    if not dynamic_props_id:
        return tuple
    return functools.partial(dynamic_props.get, service, scene, external_id, component.id, dynamic_props_id)


def props_to_fill(service: Service, request: ComponentRequest) -> list[dict[str, Any]]:
    """The props that a complete set of values must match: the reloaded ones if there are any.

    Raises :class:`Invalid` if only a reload can return them, :class:`NotFound` for an unknown ``dynamic_props_id``.
    """
    return props(service, request, needed=dynamic_props.must_be_reloaded(request.component, request.configured))


def props(service: Service, request: ComponentRequest, *, needed: bool) -> list[dict[str, Any]]:
    """The props that count: the reloaded ones where an id names them. ``needed``: this call cannot do without."""
    if request.dynamic_props_id is not None:
        return dynamic_props.get(
            service, request.scene, request.external_id, request.component.id, request.dynamic_props_id
        )
    if needed:
        raise Invalid.of("dynamic_props_id", "It is missing; reload the component's props and send its id.")
    return request.component.props


def asks_for_dynamic(request: ComponentRequest, prop: str) -> bool:
    """Whether the options of a prop are requested that only a reload can have added."""
    return request.component.has_reload and all(declared["name"] != prop for declared in request.component.props)
