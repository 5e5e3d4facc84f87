"""An action being put together: its props, its request, and what of the operation could not be said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp.service.catalog.importing import values, words
from webapp.service.catalog.importing.refs import Refs
from webapp.service.catalog.importing.schemas import Shape
from webapp.service.catalog.importing.words import Names

ACCOUNT = "account"
_DEEPEST = 20  # lists and objects within each other that a template holds


class Unsaid(ValueError):
    """The operation cannot be an action. The message is the reason, without a full stop."""


@dataclass(slots=True)
class Draft:
    """What becomes ``actions/<name>.toml``. ``names`` are those of its props by what they stand for."""

    refs: Refs
    names: Names
    props: dict[str, dict[str, Any]] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def ask(
        self, place: str, name: str, wanted: Shape, *, required: bool, description: str = "", label: str = ""
    ) -> str:
        """Ask for a value, and give the hole in which it stands. ``place`` is where it goes in the request."""
        value = values.value(self.refs, wanted, label or words.label(name), required=required, description=description)
        prop = self.names.name(f"{place}:{name}", words.prop(name), place)
        self.props[prop] = dict(value.fields)
        return value.hole(prop)

    def joined(self, hole: str, between: str) -> str:
        """``hole``, whose value is a list, as one text."""
        return f"{hole[:-1]}|join('{between}')}}"

    def leave_out(self, name: str, reason: str) -> None:
        """Note that a part of the request cannot be filled in."""
        self.notes.append(f"{name} is left out: {reason}.")

    def toml(self, account: str | None) -> dict[str, Any]:
        """The tables of props, required ones first; with ``account``, the app whose account it works with."""
        first = {ACCOUNT: {"type": "app", "app": account}} if account else {}
        required = {name: prop for name, prop in self.props.items() if not prop.get("optional")}
        return {**first, **required, **{name: prop for name, prop in self.props.items() if name not in required}}


def plain(value: Any, depth: int = 0) -> Any:
    """JSON of the document whose texts stand in a template as they are. Raises :class:`Unsaid` for what is too deep."""
    if depth > _DEEPEST:
        raise Unsaid("a value in it is nested too deeply")
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, Mapping):
        return {name: plain(member, depth + 1) for name, member in value.items()}
    return [plain(item, depth + 1) for item in value] if isinstance(value, list) else value
