"""The deliveries of a deployed trigger: the list, one with its request and responses, sending again, and the last
day.
"""

from typing import Annotated, Any, Literal

from flask import Response
from pydantic import BeforeValidator, Field, WithJsonSchema

from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Answer, Body, Data, Milliseconds, Page
from webapp.service.api.base.operations import OWNER, Example, Operations, PathParameter
from webapp.service.api.deployed_triggers import (
    DEPLOYED_TRIGGERS,
    PATH,
    READ,
    TRIGGER_ID,
    WRITE,
    Owned,
    OwnedList,
    load,
)
from webapp.service.domain.deliveries import log, stats
from webapp.service.domain.deliveries.log import Filter

operations = Operations(
    DEPLOYED_TRIGGERS,
    TRIGGER_ID,
    PathParameter("delivery_id", "The delivery's id.", "$DELIVERY_ID"),
    read=READ,
    write=WRITE,
    extension=True,
)
Status = Literal["waiting", "delivered", "failed"]


def _moment(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ValueError("Use milliseconds since 1970.")
    return int(text)


Moment = Annotated[int, BeforeValidator(_moment), WithJsonSchema({"type": "integer", "minimum": 0})]


class DeliveryList(OwnedList):
    """Which deliveries; ``since`` and ``until`` in epoch milliseconds."""

    status: str | None = Field(None, description="Only deliveries in this status: `waiting`, `delivered` or `failed`.")
    since: Moment | None = Field(None, description="Only from this time on, in epoch milliseconds.")
    until: Moment | None = Field(None, description="Only up to this time, in epoch milliseconds.")
    event_id: str | None = Field(None, description="Only this event.")


BodyMoment = Annotated[int, Field(ge=0, lt=10**15)]


class ResendRequest(Body):
    """Which to send again: those that failed, or all that ended; ``dry_run`` only counts."""

    since: BodyMoment | None = Field(None, description="From this time on, in epoch milliseconds.")
    until: BodyMoment | None = Field(None, description="Up to this time, in epoch milliseconds.")
    status: str | None = Field(None, description="`failed` unless given; or `delivered`.")
    dry_run: bool | None = Field(None, description="Only count.")


class Delivery(Answer):
    """An event on its way to one address."""

    id: str = Field(examples=["dlv_5Ua8Hc"])
    event_id: str = Field(examples=["evt_0Bz4Qr"])
    webhook_id: str | None = Field(examples=["wh_2Sd7Kj"])
    url: str | None = Field(description="Where it goes, as far as the host.", examples=["https://app.example.com/…"])
    status: Status
    attempt: int = Field(examples=[1])
    created_at: Milliseconds
    next_attempt_at: Milliseconds | None
    put_off: bool = Field(description="It waits until its webhook answers again, or is switched on.")
    last_attempt_at: Milliseconds | None
    response_status: int | None = Field(examples=[200])
    error: str | None = Field(examples=[None])
    took_ms: int | None
    summary: str | None = Field(examples=["Created issue 42"])


class SentRequest(Answer):
    """The request as the last attempt sent it."""

    url: str | None = Field(description="Where it goes, as far as the host.", examples=["https://app.example.com/…"])
    headers: dict[str, str]
    body: str


class Attempt(Answer):
    """One attempt at a delivery, with its response."""

    n: int = Field(examples=[1])
    at: Milliseconds
    took_ms: int | None
    response_status: int | None = Field(examples=[200])
    error: str | None = Field(examples=[None])
    failure: str | None = Field(None, description="What kind of failure it was, where no answer came.", examples=[None])
    response_headers: Any = Field(examples=[{}])
    response_body: str | None


class DeliveryDetails(Delivery):
    """A delivery with its request and every attempt."""

    request: SentRequest
    attempts: list[Attempt]


class Count(Answer):
    """The number of deliveries that are sent again, or would be."""

    count: int = Field(examples=[3])


class Hour(Answer):
    """The outcomes of the deliveries of one hour."""

    start: Milliseconds
    waiting: int
    delivered: int
    failed: int


class Stats(Answer):
    """The last 24 hours."""

    hours: list[Hour]
    waiting: int
    delivered: int
    failed: int
    events: int
    last_event_at: Milliseconds | None
    last_error: str | None = Field(examples=[None])


@operations.get(
    f"{PATH}/deliveries",
    answer=Page[Delivery],
    query=DeliveryList,
    example=Example(query={**OWNER, "limit": "10"}),
)
def list_deliveries(call: Call) -> Response:
    """Deliveries, newest first."""
    query = call.query(DeliveryList)
    trigger = load(call, query)
    delivery_filter = Filter(query.status or None, query.since, query.until, query.event_id or None)
    return answer_page(log.page(call.store, trigger.id, delivery_filter, query.window), log.to_json)


@operations.get(
    f"{PATH}/deliveries/<delivery:delivery_id>",
    answer=Data[DeliveryDetails],
    query=Owned,
    example=Example(query=OWNER),
)
def get_delivery(call: Call) -> Response:
    """One delivery."""
    trigger = load(call, call.query(Owned))
    return answer({"data": log.details(call.service, trigger.id, call.path["delivery_id"])})


@operations.post(
    f"{PATH}/deliveries/<delivery_id>/resend",
    answer=Data[Delivery],
    query=Owned,
    example=Example(query=OWNER),
)
def resend_delivery(call: Call) -> Response:
    """Send one again."""
    trigger = load(call, call.query(Owned))
    delivery = log.resend(call.service, trigger.id, call.path["delivery_id"])
    return answer({"data": log.to_json(delivery)})


@operations.post(
    f"{PATH}/deliveries/resend",
    answer=Count,
    query=Owned,
    body=ResendRequest,
    example=Example(query=OWNER, body={"status": "failed", "dry_run": True}),
)
def resend_deliveries(call: Call) -> Response:
    """Send many again, or count them."""
    trigger = load(call, call.query(Owned))
    body = call.body(ResendRequest)
    delivery_filter = Filter(since=body.since, until=body.until)
    count = log.resend_many(
        call.service, trigger.id, body.status or "failed", delivery_filter, dry_run=bool(body.dry_run)
    )
    return answer({"count": count})


@operations.get(f"{PATH}/stats", answer=Data[Stats], query=Owned, example=Example(query=OWNER))
def get_trigger_stats(call: Call) -> Response:
    """The last 24 hours."""
    trigger = load(call, call.query(Owned))
    return answer({"data": stats.day(call.service, trigger.id)})
