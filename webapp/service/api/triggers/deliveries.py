"""The deliveries of a deployed trigger: the list, one with its request and answers, sending again, and the last day."""

from typing import Annotated

from flask import Response
from pydantic import BeforeValidator, Field, WithJsonSchema

from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import Body, Data, Page
from webapp.service.api.base.operations import OWNER, Example, Operations, PathParameter
from webapp.service.api.triggers import delivery_models
from webapp.service.api.triggers.owned import DEPLOYED_TRIGGERS, PATH, READ, TRIGGER_ID, WRITE, Owned, OwnedList, load
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


def _moment(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ValueError("Use milliseconds since 1970.")
    return int(text)


Moment = Annotated[int, BeforeValidator(_moment), WithJsonSchema({"type": "integer", "minimum": 0})]
BodyMoment = Annotated[int, Field(ge=0, lt=10**15)]


class DeliveryList(OwnedList):
    """Which deliveries; ``since`` and ``until`` in epoch milliseconds."""

    status: str | None = Field(None, description="Only deliveries in this status: `waiting`, `delivered` or `failed`.")
    since: Moment | None = Field(None, description="Only from this time on, in epoch milliseconds.")
    until: Moment | None = Field(None, description="Only up to this time, in epoch milliseconds.")
    event_id: str | None = Field(None, description="Only this event.")


class ResendRequest(Body):
    """Which to send again: those that failed, or all that ended; ``dry_run`` only counts."""

    since: BodyMoment | None = Field(None, description="From this time on, in epoch milliseconds.")
    until: BodyMoment | None = Field(None, description="Up to this time, in epoch milliseconds.")
    status: str | None = Field(None, description="`failed` unless given; or `delivered`.")
    dry_run: bool | None = Field(None, description="Only count.")


@operations.get(
    f"{PATH}/deliveries",
    answer=Page[delivery_models.Delivery],
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
    answer=Data[delivery_models.DeliveryDetails],
    query=Owned,
    example=Example(query=OWNER),
)
def get_delivery(call: Call) -> Response:
    """One delivery."""
    trigger = load(call, call.query(Owned))
    return answer({"data": log.details(call.service, trigger.id, call.path["delivery_id"])})


@operations.post(
    f"{PATH}/deliveries/<delivery_id>/resend",
    answer=Data[delivery_models.Delivery],
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
    answer=delivery_models.Count,
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


@operations.get(f"{PATH}/stats", answer=Data[delivery_models.Stats], query=Owned, example=Example(query=OWNER))
def get_trigger_stats(call: Call) -> Response:
    """The last 24 hours."""
    trigger = load(call, call.query(Owned))
    return answer({"data": stats.day(call.service, trigger.id)})
