"""Props that a component gave at run time, made sound: strict clients refuse a whole answer for one wrong prop.

What stands in a declaration was judged when the catalog was built; a reload gives new props with every call.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.domain.components.prop_types import CHECKS, problem

Prop = Mapping[str, Any]
KNOWN = frozenset({*CHECKS, "alert", "any"})
_WHOLE = ("min", "max")


def sound(props: Sequence[Prop]) -> tuple[list[dict[str, Any]], list[str]]:
    """``props`` without what no client can read, and a sentence for each thing that was taken out."""
    found: list[dict[str, Any]] = []
    told: list[str] = []
    for prop in props:
        if prop["type"] not in KNOWN:
            told.append(f"The component gave the prop {prop['name']} of the type {prop['type']}, which nobody knows.")
            continue
        kept = dict(prop)
        for name in [one for one in _WHOLE if not _is_whole(kept.get(one))]:
            del kept[name]
            told.append(f"The component gave {prop['name']} a {name} that is no whole number; it was left out.")
        if "default" in kept and problem({**kept, "options": None}, kept["default"]):
            del kept["default"]
            told.append(f"The component gave {prop['name']} a default of another type; it was left out.")
        found.append(kept)
    return found, told


def _is_whole(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))
