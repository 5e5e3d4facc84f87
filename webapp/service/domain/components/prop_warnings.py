"""Warnings about values for props that do not exist (contract "Values"): misspelt, one would vanish without a word.

A warning stops nothing. Values that are refused are decided in :mod:`prop_values`.
"""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.domain.components import prop_values
from webapp.service.domain.components.component_requests import ComponentRequest, Prop

MAX_WARNINGS = 20
_MAX_SHOWN = 100  # characters of a name


def warned(request: ComponentRequest, props: Sequence[Prop], *, all_known: bool = False) -> dict[str, Any]:
    """The member ``warnings`` of an answer to ``request``, if there are any.

    For a component that reloads its props, only the reloaded ones can be compared.
    """
    if request.component.has_reload and request.dynamic_props_id is None and not all_known:
        return {}
    noted = warnings([*request.component.props, *props], request.configured)
    return {"warnings": noted} if noted else {}


def warnings(props: Sequence[Prop], configured: Mapping[str, Any]) -> list[dict[str, str]]:
    """A warning about each name in ``configured`` that is none of ``props``, with one that is spelt alike."""
    names, noted = [prop["name"] for prop in props], list[dict[str, str]]()
    for name in prop_values.unknown(props, configured)[:MAX_WARNINGS]:
        shown = name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"
        close = difflib.get_close_matches(shown, names, n=1)
        guess = f" Did you mean {close[0]}?" if close else ""
        sentence = f"There is no prop {shown} here, so its value was left out.{guess}"
        noted.append({"field": f"{prop_values.FIELD}.{shown}", "message": sentence})
    return noted
