"""The options of a prop: a choice, a page of them, and how they are answered: with labels, or as bare texts.

``remoteOptions`` of a prop are found by a function of the component; the manual describes them under "Options".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webapp.service.components.errors import ResultError

if TYPE_CHECKING:
    from webapp.service.components.context import Context

Scalar = str | int | bool


@dataclass(frozen=True, slots=True)
class Option:
    """One choice: the label that users see, and the value that the component gets."""

    label: str
    value: Scalar

    def to_json(self) -> dict[str, Scalar]:
        """The option as the API lists it (contract "Options")."""
        return {"label": self.label, "value": self.value}


@dataclass(frozen=True, slots=True)
class Options:
    """One page of options. ``context`` is passed as ``ctx.previous`` to the call for the next page."""

    items: Sequence[Option | str]
    context: Mapping[str, Any] | None = None

    def to_json(self, prop: str) -> dict[str, Any]:
        """The page as the value of a Reply: options with labels, or bare texts for ``stringOptions``.

        Raises :class:`ResultError`, which names ``prop``, if the items are neither all of one nor all of the other.
        """
        listed = [item.to_json() for item in self.items if isinstance(item, Option)]
        texts = [item for item in self.items if isinstance(item, str)]
        if len(listed) + len(texts) != len(self.items) or (listed and texts):
            raise ResultError(f"The options of {prop} must be all Option or all text.")
        context = None if self.context is None else dict(self.context)
        return {"options": None if texts else listed, "string_options": texts or None, "context": context}


FindOptions = Callable[["Context"], Options]
