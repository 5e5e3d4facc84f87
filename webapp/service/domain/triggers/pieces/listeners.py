"""What a piece's trigger listens to at the one address of an OAuth client: its code says so when switched on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webapp.errors import Invalid

_NOBODY = "The app did not say whose events these are. Connect the account again, then try again."


@dataclass(frozen=True, slots=True)
class Listener:
    """The events of these names, of whom the piece calls ``identifier``; empty where it does not know."""

    events: tuple[str, ...]
    identifier: str


def of_activation(value: Any) -> list[Listener]:
    """Those in what a piece's ``activate`` returned."""
    listed = value.get("listeners") if isinstance(value, dict) else None
    return [
        Listener(tuple(map(str, each["events"])), str(each.get("identifier") or ""))
        for each in (listed if isinstance(listed, list) else [])
    ]


def names(listeners: Sequence[Listener]) -> tuple[str, ...]:
    """The names of all their events, each once. Raises :class:`Invalid` where there are none."""
    if names := tuple({name: None for listener in listeners for name in listener.events}):
        return names
    raise Invalid(_NOBODY)


def names_by_identifier(listeners: Sequence[Listener]) -> dict[str, tuple[str, ...]]:
    """The names of the events of each. Raises :class:`Invalid` where there is nobody."""
    by_identifier = dict[str, tuple[str, ...]]()
    for listener in listeners:
        if listener.identifier:
            by_identifier[listener.identifier] = (*by_identifier.get(listener.identifier, ()), *listener.events)
    if not by_identifier:
        raise Invalid(_NOBODY)
    return by_identifier
