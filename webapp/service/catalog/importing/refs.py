"""Following ``$ref`` within one document. Nothing outside it is ever fetched."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from webapp.errors import Invalid

HOPS = 50
MOST_STEPS = 2_000_000  # of looking at one document
_LONGEST_INDEX = 9


class Unresolved(ValueError):
    """A reference leads nowhere that can be read. The message is a reason, without a full stop."""


class Refs:
    """The references of one document."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._steps = 0

    def count(self, steps: int) -> None:
        """Count ``steps`` of looking at the document. Raises :class:`Invalid` once they are too many."""
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise Invalid("The document refers to itself so often that it cannot be read. Choose less of it.")

    def follow(self, node: Any) -> Any:
        """``node``, or what its reference leads to in the end. Raises :class:`Unresolved`.

        What stands beside a reference (OpenAPI 3.1) wins over what it leads to.
        """
        self.count(1)
        beside: dict[str, Any] = {}
        for _ in range(HOPS):
            if not (isinstance(node, Mapping) and isinstance(node.get("$ref"), str)):
                return {**node, **beside} if beside and isinstance(node, Mapping) else node
            beside = {**{name: value for name, value in node.items() if name != "$ref"}, **beside}
            node = self.at(node["$ref"])
        raise Unresolved("a reference leads back to itself")

    def object(self, node: Any) -> Mapping[str, Any]:
        """The same, for what should be an object; an empty one for anything else."""
        try:
            followed = self.follow(node)
        except Unresolved:
            return {}
        return followed if isinstance(followed, Mapping) else {}

    def at(self, reference: str) -> Any:
        """What a reference names: a JSON Pointer (RFC 6901) in the fragment. Raises :class:`Unresolved`."""
        file, _, pointer = reference.partition("#")
        if file:
            raise Unresolved(f"it refers to another document, {file[:100]}")
        node: Any = self._root
        for part in pointer.split("/")[1:]:
            step = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and step in node:
                node = node[step]
            elif isinstance(node, list) and (index := _index(step)) < len(node):
                node = node[index]
            else:
                raise Unresolved(f"it refers to {reference[:100]}, which does not exist")
        return node


def _index(step: str) -> int:
    """The place in a list that ``step`` names; behind any end where it names none."""
    return int(step) if step.isdecimal() and len(step) <= _LONGEST_INDEX else 10**_LONGEST_INDEX
