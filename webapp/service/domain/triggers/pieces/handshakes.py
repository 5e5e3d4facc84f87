"""Requests by which a provider tries the address of a piece's trigger: the piece's own code answers them at once.

Which requests these are the piece says by a header, a parameter of the query or a member of the body.
"""

from collections.abc import Mapping
from typing import Any

from webapp.service.components.calls import HttpAnswer
from webapp.service.components.errors import LoadError
from webapp.service.components.pieces import form
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries.events import ReceivedRequest
from webapp.service.domain.triggers import calls, runs
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

ANSWER_S = 25.0
_PLACES = {"HEADER_PRESENT": "headers", "QUERY_PRESENT": "query", "BODY_PARAM_PRESENT": "body"}
_FAILED = HttpAnswer(
    500, '{"error": "The trigger could not answer this request."}', {"content-type": "application/json"}
)


def expected(service: Service, trigger: DeployedTrigger) -> Mapping[str, Any] | None:
    """How the provider of ``trigger`` tries its address; None where it does not."""
    component = calls.component_of(service, trigger) if trigger.emitter == "source" else None
    if component is None or not component.of_piece:
        return None
    try:
        return form.read(component.path).piece.handshake
    except LoadError:
        return None


def answer(service: Service, trigger: DeployedTrigger, request: ReceivedRequest) -> HttpAnswer | None:
    """What the piece answers where ``request`` is a handshake, else None; what the piece remembers of it is kept."""
    handshake = expected(service, trigger)
    event = request.payload() if handshake else {}
    if handshake is None or not _is_one(handshake, event):
        return None
    state = runs.remembered(service, trigger)
    reply = calls.call(service, trigger, "handshake", state=state, event=event, deadline_s=ANSWER_S)
    if not reply.ok:
        return _FAILED
    with service.store.write() as tx:
        runs.remember(tx, service, trigger, reply.state)
    return reply.response or HttpAnswer(200, "", {})


def _is_one(handshake: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    place, name = _PLACES.get(str(handshake.get("strategy"))), handshake.get("paramName")
    values = event.get(place) if place else None
    if not isinstance(values, dict) or not isinstance(name, str):
        return False
    return (name.lower() if place == "headers" else name) in values
