"""The events of a deployed trigger (contract "Events"): the list, newest first, and a test event."""

from collections.abc import Mapping
from typing import Annotated, Any

from flask import Response
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, Body, Data, Extensions, Flag, Milliseconds
from webapp.service.api.base.operations import OWNER, Example, Operations
from webapp.service.api.deployed_triggers import DEPLOYED_TRIGGERS, PATH, READ, TRIGGER_ID, WRITE, Owned, load
from webapp.service.components.calls import Emitted
from webapp.service.domain.components.prop_values import shallow
from webapp.service.domain.deliveries import events
from webapp.service.domain.triggers import fire
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

operations = Operations(DEPLOYED_TRIGGERS, TRIGGER_ID)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text) >= 1):
        raise ValueError("Use a whole number from 1.")
    return min(int(text), events.MAX_LISTED)


Count = Annotated[
    int, BeforeValidator(_count), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": events.MAX_LISTED})
]


class EventList(Owned):
    """The filters of the list.

    Fewer than ``n`` are listed if they are large, unless ``brief``; ``extensions`` adds their number.
    """

    n: Count = Field(events.MAX_LISTED, description="How many at most.")
    after: str = Field("", description="An event's id; older ones follow.")
    event_id: str = Field("", description="Only this event.")
    brief: Flag = Field(False, description="Leave out what the events hold: `e` is null.")
    extensions: Extensions = False


class TestEvent(Body):
    """The event to send; none means the newest real one."""

    event: Annotated[Any, AfterValidator(shallow)] = Field(
        None, description="What to send; without it, the newest real event or a plain one."
    )


class Event(Answer):
    """An event, exactly as it was emitted."""

    e: Any = Field(examples=[{"number": 42, "title": "It works"}])
    k: str = Field(examples=["emit"])
    ts: Milliseconds
    id: str = Field(examples=["evt_0Bz4Qr"])
    sum: str = ""


class EventCount(Answer):
    """The number of events in the list, and of all events."""

    count: int = Field(examples=[1])
    total_count: int = Field(examples=[1])


class Events(Answer):
    """Events, newest first; `page_info` is there when `extensions` were asked for."""

    data: list[Event]
    page_info: EventCount | None = None


@operations.post(
    f"{PATH}/test_event",
    answer=Data[Event],
    scopes=WRITE,
    query=Owned,
    body=TestEvent,
    extension=True,
    example=Example(query=OWNER, body={"event": {"hello": "world"}}),
)
def send_test_event(call: Call) -> Response:
    """Send an event as if the trigger had emitted it."""
    trigger, body = load(call, call.query(Owned)), call.body(TestEvent)
    event = body.event if "event" in body.model_fields_set else _sample(call, trigger)
    emitted = Emitted(event, None, "Test event", call.service.clock())
    (stored,) = fire.emit(call.service, trigger, [emitted])
    return answer({"data": events.to_json(stored)})


@operations.get(
    f"{PATH}/events", answer=Events, scopes=READ, query=EventList, example=Example(query={**OWNER, "n": "10"})
)
def list_trigger_events(call: Call) -> Response:
    """Events, newest first."""
    query = call.query(EventList)
    trigger = load(call, query)
    rows = events.page_of_trigger(
        call.store, trigger.id, limit=query.n, after=query.after, only=query.event_id, brief=query.brief
    )
    data: dict[str, Any] = {"data": [events.to_json(event) for event in events.opened(call.service, rows)]}
    if query.extensions:
        data["page_info"] = {"count": len(rows), "total_count": events.count_of_trigger(call.store, trigger.id)}
    return answer(data)


def _sample(call: Call, trigger: DeployedTrigger) -> Any:
    """The newest event of the trigger, or a plain one that names it."""
    newest = events.opened(call.service, events.page_of_trigger(call.store, trigger.id, limit=1))
    plain: Mapping[str, Any] = {"test": True, "trigger": trigger.id, "timestamp": call.service.clock()}
    return events.to_json(newest[0])["e"] if newest else plain
