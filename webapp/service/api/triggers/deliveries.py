"""The deliveries of a deployed trigger: list, one with its request and answers, send again, 24 hours. Extensions."""

from typing import Annotated

from flask import Response
from pydantic import BeforeValidator, Field, WithJsonSchema

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body
from webapp.service.api.triggers.owned import Owned, OwnedList, load
from webapp.service.domain.base import scopes
from webapp.service.domain.deliveries import log, resending
from webapp.service.domain.deliveries.log import Filter


def _moment(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ValueError("Use milliseconds since 1970.")
    return int(text)


Moment = Annotated[int, BeforeValidator(_moment), WithJsonSchema({"type": "integer", "minimum": 0})]
BodyMoment = Annotated[int, Field(ge=0, lt=10**15)]


class DeliveryList(OwnedList):
    """Which deliveries; ``since`` and ``until`` in epoch milliseconds."""

    status: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    event_id: str | None = None


class Again(Body):
    """Which to send again: those that failed, or all that ended; ``dry_run`` only counts."""

    since: BodyMoment | None = None
    until: BodyMoment | None = None
    status: str | None = None
    dry_run: bool | None = None


def index(call: Call) -> Response:
    """Deliveries, newest first."""
    asked = call.query(DeliveryList)
    trigger = load(call, asked)
    wanted = Filter(asked.status or None, asked.since, asked.until, asked.event_id or None)
    return answers.page(log.page(call.store, trigger.id, wanted, asked.window), log.to_json)


def show(call: Call) -> Response:
    """One delivery."""
    trigger = load(call, call.query(Owned))
    return answers.json({"data": log.details(call.service, trigger.id, call.path["delivery_id"])})


def resend(call: Call) -> Response:
    """Send one again."""
    trigger = load(call, call.query(Owned))
    found = resending.resend(call.service, trigger.id, call.path["delivery_id"])
    return answers.json({"data": log.to_json(found)})


def resend_many(call: Call) -> Response:
    """Send many again, or count them."""
    trigger = load(call, call.query(Owned))
    asked = call.body(Again)
    wanted = Filter(since=asked.since, until=asked.until)
    count = resending.resend_many(
        call.service, trigger.id, asked.status or "failed", wanted, dry_run=bool(asked.dry_run)
    )
    return answers.json({"count": count})


def stats(call: Call) -> Response:
    """The last 24 hours."""
    trigger = load(call, call.query(Owned))
    return answers.json({"data": log.stats(call.service, trigger.id)})


T = "P/deployed-triggers/<trigger_id>"
READ, WRITE = (scopes.DEPLOYED_TRIGGERS_READ,), (scopes.DEPLOYED_TRIGGERS_WRITE,)
OPERATIONS = (
    Operation("list_deliveries", "GET", f"{T}/deliveries", index, READ, query=DeliveryList),
    Operation("get_delivery", "GET", f"{T}/deliveries/<delivery:delivery_id>", show, READ, query=Owned),
    Operation("resend_delivery", "POST", f"{T}/deliveries/<delivery_id>/resend", resend, WRITE, query=Owned),
    Operation("resend_deliveries", "POST", f"{T}/deliveries/resend", resend_many, WRITE, query=Owned, body=Again),
    Operation("get_trigger_stats", "GET", f"{T}/stats", stats, READ, query=Owned),
)
