"""What the form library of existing clients draws: the set of types in its ``Control``, read in version 3.0.1 of its
npm package. For a prop of any other type it raises "Unsupported property type", and nothing of the form is drawn.
"""

from collections.abc import Mapping
from typing import Any

DRAWN = frozenset({"alert", "app", "boolean", "http_request", "integer", "object", "sql", "string"})
PASSED_OVER = frozenset({"$.service.db", "$.interface.http", "$.interface.apphook", "$.interface.timer", "dir"})


def is_drawn(prop: Mapping[str, Any]) -> bool:
    """Whether the library draws ``prop``, or leaves it out of the form, rather than raising."""
    kind = prop["type"]
    if prop.get("remoteOptions") or prop.get("options") or kind.startswith("$.discord.channel"):
        return True
    return not kind.endswith("[][]") and (kind.endswith("[]") or kind in DRAWN | PASSED_OVER)
