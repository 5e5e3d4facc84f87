"""Dynamic props (table ``dynamic_props``): the list of props of a reload, stored under an id for later calls.

They belong to one external user of a scene and to one version of one component, and are deleted 30 days after their
last use. Declarations are validated when the catalog is built; a reload returns new props with every call, and strict
clients refuse a whole answer for one invalid prop, so :func:`without_invalid` removes those.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from webapp.errors import NotFound
from webapp.kit.clock import DAY
from webapp.kit.crypto import new_id
from webapp.service.catalog.components import ComponentInfo
from webapp.service.domain.base.service import Service
from webapp.service.domain.components.prop_values import CHECKS, problem, unknown
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Params, Tx

KEPT = 30 * DAY
_KNOWN_TYPES = frozenset({*CHECKS, "alert", "any"})
_WHOLE_NUMBERS = ("min", "max")


def must_be_reloaded(component: ComponentInfo, configured: Mapping[str, Any]) -> bool:
    """Whether the props depend on the values, so that a run without the reloaded props would miss some."""
    if not component.has_reload:
        return False
    props = component.props
    deciding = [prop for prop in props if prop.get("reloadProps") and configured.get(prop["name"]) is not None]
    return bool(deciding or unknown(props, configured))


def keep(service: Service, scene: Scene, external_id: str, component_id: str, props: Sequence[dict[str, Any]]) -> str:
    """Keep ``props``, the whole new list of the component ``component_id`` (``sc_…``); their id (``dyp_…``)."""
    dynamic_props_id, now = new_id("dyp"), service.clock()
    with service.store.write() as tx:
        tx.run(
            "INSERT INTO dynamic_props (id, project_id, environment, external_id, component_id, props, created_at, "
            "used_at) VALUES (:id, :project, :environment, :external_id, :component, :props, :now, :now)",
            {
                **_owner(scene, external_id, component_id),
                "id": dynamic_props_id,
                "props": json.dumps(props, separators=(",", ":")),
                "now": now,
            },
        )
    return dynamic_props_id


def get(
    service: Service, scene: Scene, external_id: str, component_id: str, dynamic_props_id: str
) -> list[dict[str, Any]]:
    """The props stored under ``dynamic_props_id`` for this user and component. Raises :class:`NotFound`."""
    row = service.store.one(
        "SELECT props, used_at FROM dynamic_props WHERE id = :id AND project_id = :project "
        "AND environment = :environment AND external_id = :external_id AND component_id = :component",
        {**_owner(scene, external_id, component_id), "id": dynamic_props_id},
    )
    if row is None:
        raise NotFound("There is no such dynamic_props_id for this component and user; reload its props again.")
    now = service.clock()
    if now - row["used_at"] > DAY:
        with service.store.write() as tx:
            tx.run("UPDATE dynamic_props SET used_at = :now WHERE id = :id", {"now": now, "id": dynamic_props_id})
    props: list[dict[str, Any]] = json.loads(row["props"])
    return props


def drop_user(tx: Tx, scene: Scene, external_id: str) -> int:
    """Delete the lists of one external user; return their number."""
    return tx.run(
        "DELETE FROM dynamic_props WHERE project_id = :project AND environment = :environment "
        "AND external_id = :external_id",
        {"project": scene.project_id, "environment": scene.environment, "external_id": external_id},
    )


def purge(service: Service) -> int:
    """Delete the lists that were not used for 30 days; return their number."""
    with service.store.write() as tx:
        return tx.run("DELETE FROM dynamic_props WHERE used_at < :limit", {"limit": service.clock() - KEPT})


def without_invalid(props: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """``props`` without what no client can read, and a sentence for each thing that was taken out."""
    valid: list[dict[str, Any]] = []
    problems: list[str] = []
    for prop in props:
        if prop["type"] not in _KNOWN_TYPES:
            problems.append(
                f"The component gave the prop {prop['name']} of the type {prop['type']}, which nobody knows."
            )
            continue
        kept = dict(prop)
        for name in [bound for bound in _WHOLE_NUMBERS if not _is_whole(kept.get(bound))]:
            del kept[name]
            problems.append(f"The component gave {prop['name']} a {name} that is no whole number; it was left out.")
        if "default" in kept and problem({**kept, "options": None}, kept["default"]):
            del kept["default"]
            problems.append(f"The component gave {prop['name']} a default of another type; it was left out.")
        valid.append(kept)
    return valid, problems


def _is_whole(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _owner(scene: Scene, external_id: str, component_id: str) -> Params:
    return {
        "project": scene.project_id,
        "environment": scene.environment,
        "external_id": external_id,
        "component": component_id,
    }
