"""The events of a deployed trigger, newest first (WIRE "Events")."""

from typing import Annotated, Any

from flask import Response
from pydantic import BeforeValidator, WithJsonSchema

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Flag
from webapp.service.api.triggers.owned import Owned, load
from webapp.service.domain.base import scopes
from webapp.service.domain.deliveries import events


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text) >= 1):
        raise ValueError("Use a whole number from 1.")
    return min(int(text), events.MAX_LISTED)


class EventList(Owned):
    """How many at most: fewer where they are large. ``after`` is an event's id, older ones follow. ``event_id`` asks
    for one alone.

    ``extensions`` adds what is ours alone: how many there are.
    """

    n: Annotated[
        int, BeforeValidator(_count), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": events.MAX_LISTED})
    ] = events.MAX_LISTED
    after: str | None = None
    event_id: str | None = None
    extensions: Flag = False


def index(call: Call) -> Response:
    """Events, newest first."""
    asked = call.query(EventList)
    trigger = load(call, asked)
    found = events.page_of_trigger(
        call.store, trigger.id, limit=asked.n, after=asked.after or None, event_id=asked.event_id or None
    )
    data: dict[str, Any] = {"data": [events.to_json(one) for one in events.opened(call.service, found)]}
    if asked.extensions:
        data["page_info"] = {"count": len(found), "total_count": events.count_of_trigger(call.store, trigger.id)}
    return answers.json(data)


OPERATIONS = (
    Operation(
        "list_trigger_events",
        "GET",
        "P/deployed-triggers/<trigger_id>/events",
        index,
        (scopes.DEPLOYED_TRIGGERS_READ,),
        query=EventList,
    ),
)
