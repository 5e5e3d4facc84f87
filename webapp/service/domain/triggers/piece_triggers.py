"""Requests that only a piece's own code can interpret: handshakes of providers, and events at the address of an
OAuth app.

A piece declares by a header, a query parameter or a member of the body which requests are handshakes; its code answers
them at once. For events its code says whether a request is genuine, whose event it carries, and what to respond. The
code has no network for that, and an event in a request that is not genuine is never used.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.errors import Unavailable
from webapp.service.catalog.spec import PieceEvents
from webapp.service.components.calls import HttpAnswer, Reply
from webapp.service.components.errors import LoadError
from webapp.service.components.pieces import form
from webapp.service.components.pieces.package_calls import PackageCall, PackageMethod
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries.events import ReceivedRequest
from webapp.service.domain.triggers import calls, trigger_memory
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

HANDSHAKE_S = 25.0
_PLACES = {"HEADER_PRESENT": "headers", "QUERY_PRESENT": "query", "BODY_PARAM_PRESENT": "body"}
_JSON = {"content-type": "application/json"}
_FAILED = HttpAnswer(500, '{"error": "The trigger could not answer this request."}', _JSON)
ANSWER_S = 10.0
_FORGED = HttpAnswer(401, '{"error": "The signature does not fit."}', _JSON)
_NOT_VERIFIED = "The event cannot be verified now. Send it again."
_CODE_RAN = ("exception", "http")  # failures of a call whose code ran: it did not verify the request


def expected_handshake(service: Service, trigger: DeployedTrigger) -> Mapping[str, Any] | None:
    """How the provider of ``trigger`` verifies its address; None if it does not."""
    component = calls.component_of(service, trigger) if trigger.emitter == "source" else None
    if component is None or not component.of_piece:
        return None
    try:
        return form.read(component.path).piece.handshake
    except LoadError:
        return None


def answer_handshake(service: Service, trigger: DeployedTrigger, request: ReceivedRequest) -> HttpAnswer | None:
    """The piece's response if ``request`` is a handshake, else None; the piece's memory is stored."""
    handshake = expected_handshake(service, trigger)
    event = request.payload() if handshake else {}
    if handshake is None or not _is_handshake(handshake, event):
        return None
    state = trigger_memory.read(service, trigger)
    reply = calls.call(service, trigger, "handshake", state=state, event=event, deadline_s=HANDSHAKE_S)
    if not reply.ok:
        return _FAILED
    with service.store.write() as tx:
        trigger_memory.update(tx, service, trigger, reply.state)
    return reply.response or HttpAnswer(200, "", {})


def _is_handshake(handshake: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    place, name = _PLACES.get(str(handshake.get("strategy"))), handshake.get("paramName")
    values = event.get(place) if place else None
    if not isinstance(values, dict) or not isinstance(name, str):
        return False
    return (name.lower() if place == "headers" else name) in values


@dataclass(frozen=True, slots=True)
class AppEvents:
    """The event ``name`` for the account that the piece calls ``identifier``, empty if there is none; and the
    response.
    """

    answer: HttpAnswer | None
    name: str = ""
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class EventAddress:
    """The address that receives the events of an OAuth client, the piece that reads them, and the signing secret."""

    facts: PieceEvents
    client_id: str
    secret: str
    address: str


def read_events(service: Service, at: EventAddress, event: Mapping[str, Any]) -> AppEvents:
    """The events in the request ``event``. Raises :class:`Unavailable` while the piece cannot be called."""
    parsed = _parse(service, at, event)
    if parsed.name == "" and parsed.answer is not None:
        return parsed  # a handshake, which some providers do not sign
    if not _is_genuine(service, at, event):
        return AppEvents(_FORGED)
    return parsed


def _parse(service: Service, at: EventAddress, event: Mapping[str, Any]) -> AppEvents:
    reply = _call_piece(service, at, "parse", {"event": event, "endpoint": at.address})
    value = reply.value if reply.ok and isinstance(reply.value, dict) else {}
    name, identifier = value.get("event"), value.get("identifier")
    answer = value.get("reply")
    return AppEvents(
        _answer(answer) if isinstance(answer, dict) else None,
        str(name) if name and identifier else "",
        str(identifier) if name and identifier else "",
    )


def _is_genuine(service: Service, at: EventAddress, event: Mapping[str, Any]) -> bool:
    """Whether the piece accepts the secret and refuses another: one that accepts any checks nothing."""
    return _verifies(service, at, event, at.secret) and not _verifies(service, at, event, secrets.token_hex())


def _verifies(service: Service, at: EventAddress, event: Mapping[str, Any], secret: str) -> bool:
    reply = _call_piece(service, at, "verify", {"event": event, "secret": secret, "endpoint": at.address})
    return reply.ok and reply.value is True


def _call_piece(service: Service, at: EventAddress, method: PackageMethod, fields: Mapping[str, Any]) -> Reply:
    reply = service.executor.ask_package(
        PackageCall(
            folder=service.settings.data / "pieces" / at.facts.folder,
            name=at.facts.package,
            method=method,
            fields=fields,
            user=f"events of {at.client_id}",
            deadline_s=ANSWER_S,
            mask=(at.secret,),
        )
    )
    if reply.error is not None and reply.error.kind not in _CODE_RAN:
        raise Unavailable(_NOT_VERIFIED)
    return reply


def _answer(reply: Mapping[str, Any]) -> HttpAnswer:
    """The piece's reply as an HTTP response: a text unchanged, other values as JSON."""
    body, headers = reply.get("body"), reply.get("headers") or {}
    shown = {
        str(name): str(value) for name, value in headers.items() if "\n" not in str(value) and "\r" not in str(value)
    }
    if isinstance(body, str):
        return HttpAnswer(200, body, {"content-type": "text/plain; charset=utf-8", **shown})
    return HttpAnswer(200, json.dumps(body), {**_JSON, **shown})
