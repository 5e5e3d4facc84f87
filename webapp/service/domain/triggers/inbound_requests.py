"""Requests to triggers' own URLs, each of which is stored before it is answered.

A native trigger's event is committed with its deliveries before the response. A request for a source waits in the
:mod:`inbox`; one for a source that responds itself is run at once, and the caller waits. Addresses that never existed,
were deleted or are paused are answered alike.

Names of headers are in lower case. A repeated query parameter is a list of its values. The payload's form of the body
is composed later (:mod:`webapp.service.domain.deliveries.events`).

A *push* is a request by which an app notifies a polling trigger of news: the trigger then polls at once. It is answered
within a moment. It is authenticated only by the secret in it, and only causes a poll, so a repeated or replayed one
emits nothing twice.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from webapp import quotas
from webapp.errors import Conflict, NotFound, TooLarge
from webapp.kit.text import one_line
from webapp.service.components.calls import HttpAnswer
from webapp.service.components.declared import webhooks
from webapp.service.components.declared.webhooks import SECRET
from webapp.service.components.masking import MASK
from webapp.service.components.wire import MAX_MESSAGE
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import prop_values
from webapp.service.domain.deliveries.events import ReceivedRequest
from webapp.service.domain.triggers import (
    calls,
    deployed_triggers,
    fire,
    inbox,
    lifecycle,
    pending_changes,
    piece_triggers,
    subscriptions,
    trigger_memory,
)
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

log = logging.getLogger(__name__)

MASKED = frozenset({"authorization", "proxy-authorization", "cookie"})
MAX_BYTES = MAX_MESSAGE - 2**20  # of a request as JSON: it goes to the runner in one message, with the values
MAX_EVENT_BYTES = 48 * 1024 * 1024  # of a request's event, which contains a body of 10 MiB twice
MAX_SUMMARY = 200
MAX_CHALLENGE = 4_096  # characters of what an app sends to verify an address
ANSWER_S = 25.0
SUCCESS = '{"success": true}'
JSON = {"content-type": "application/json"}
NOT_FOUND = "There is nothing at this address."
_TEXT = {"content-type": "text/plain; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class InboundRequest:
    """A request to a trigger's own address. ``path`` is the part after the key, at least ``/``.

    ``url`` is the whole address with the key, which some providers sign. Headers may repeat; ``at`` is the time of its
    arrival, in epoch milliseconds.
    """

    method: str
    path: str
    url: str = field(repr=False)
    query: tuple[tuple[str, str], ...] = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    client_ip: str
    at: int


def stored_request(request: InboundRequest, **more: Any) -> ReceivedRequest:
    """The stored form of ``request``, with ``more`` facts. Credentials in its headers are masked."""
    facts = {
        "method": request.method,
        "path": request.path,
        "query": _grouped(request.query),
        "headers": _headers(request.headers),
        "body": None,
        "bodyRaw": None,
        "client_ip": request.client_ip,
        "url": request.url,
        **more,
    }
    return ReceivedRequest(facts, request.body)


def verified_event(request: InboundRequest) -> dict[str, Any]:
    """``request`` as an event that is verified and then forgotten: the credentials in its headers are readable."""
    event = stored_request(request, timestamp=request.at).payload()
    return {**event, "headers": _headers(request.headers, masked=frozenset())}


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(_without_surrogates(name), []).append(_without_surrogates(value))
    return {name: values[0] if len(values) == 1 else values for name, values in groups.items()}


def _headers(pairs: Iterable[tuple[str, str]], masked: frozenset[str] = MASKED) -> dict[str, str]:
    """Repeated headers are joined by commas (RFC 9110 section 5.3)."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        name = name.lower()
        shown = MASK if name in masked else _without_surrogates(value)
        headers[name] = f"{headers[name]}, {shown}" if name in headers and shown != MASK else shown
    return headers


def _without_surrogates(text: str) -> str:
    """``text`` without lone surrogates, which no JSON may hold."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def trigger_at(service: Service, key: str) -> DeployedTrigger:
    """The trigger that listens at ``/h/<key>`` now, or is just being switched on. Raises :class:`NotFound`."""
    trigger = deployed_triggers.by_endpoint(service.store, key)
    if trigger is None or not (trigger.active or _is_being_verified(service, trigger)):
        raise NotFound(NOT_FOUND)
    return trigger


def count(service: Service, trigger: DeployedTrigger) -> None:
    """Count a request or mail for ``trigger`` and for its user. Raises :class:`webapp.errors.Throttled`."""
    service.count(quotas.TRIGGER_REQUESTS, trigger.id)
    service.count(quotas.USER_REQUESTS, trigger.external_user_id)


def answers_synchronously(trigger: DeployedTrigger) -> bool:
    """Whether the caller waits for a run: a source with ``http_interface(custom_response=True)``."""
    return trigger.emitter == "source" and trigger.custom_response


def caller_waits(service: Service, trigger: DeployedTrigger) -> bool:
    """Whether a caller may have to wait for a run: always, or where the request is a piece's handshake."""
    return answers_synchronously(trigger) or piece_triggers.expected_handshake(service, trigger) is not None


def receive_request(service: Service, trigger: DeployedTrigger, received: InboundRequest) -> HttpAnswer:
    """Receive a request for ``trigger`` and return the response. Everything that was accepted is committed.

    Raises :class:`NotFound` (paused or deleted meanwhile), :class:`webapp.errors.Throttled` (too many wait),
    :class:`TooLarge`, :class:`webapp.errors.Unavailable`.
    """
    if trigger.emitter == "http":
        return _receive_native(service, trigger, stored_request(received))
    if (answer := _receive_push(service, trigger, received)) is not None:
        return answer
    request = stored_request(received, timestamp=received.at)
    _checked_size(request, MAX_BYTES)
    if (handshake := piece_triggers.answer_handshake(service, trigger, request)) is not None:
        return handshake
    if answers_synchronously(trigger):
        return _run_and_answer(service, trigger, request.payload())
    if not trigger.active:
        raise NotFound(NOT_FOUND)  # its provider only verifies its address
    try:
        inbox.add(service, trigger, request)
    except Conflict as error:  # deleted meanwhile
        raise NotFound(NOT_FOUND) from error
    service.wake()
    return HttpAnswer(200, SUCCESS, JSON)


def _is_being_verified(service: Service, trigger: DeployedTrigger) -> bool:
    """Whether its provider may be verifying its address, as some do before they respond to a subscription."""
    if not caller_waits(service, trigger):
        return False
    pending = pending_changes.find(service.store, trigger.id)
    return pending is not None and pending.phase in ("subscribe", "restore")


def _receive_native(service: Service, trigger: DeployedTrigger, request: ReceivedRequest) -> HttpAnswer:
    size = _checked_size(request, MAX_EVENT_BYTES)
    summary = one_line(f"{request.facts['method']} {request.facts['path']}", MAX_SUMMARY)
    with service.store.write(shared=True) as tx:
        now = deployed_triggers.find(tx, trigger.id)
        if now is None or not now.active:
            raise NotFound(NOT_FOUND)
        fire.record_request(tx, service, now, request, summary, size)
    service.wake()
    return _chosen_response(service, trigger)


def _checked_size(request: ReceivedRequest, most: int) -> int:
    """The number of bytes of the JSON of ``request``. Raises :class:`TooLarge` for more than ``most``."""
    size = request.size()
    if size > most:
        raise TooLarge("The request is larger than this trigger can take as JSON; send less, or no binary data.")
    return size


def _chosen_response(service: Service, trigger: DeployedTrigger) -> HttpAnswer:
    """The answer that the person chose; what they left out has a default in the component's declaration."""
    chosen: Mapping[str, Any] = prop_values.checked(
        trigger.props, deployed_triggers.configured(service, trigger), whole=True
    ).props
    headers = {"content-type": str(chosen.get("response_content_type") or JSON["content-type"])}
    return HttpAnswer(int(chosen.get("response_status") or 200), str(chosen.get("response_body", SUCCESS)), headers)


def _run_and_answer(service: Service, trigger: DeployedTrigger, payload: dict[str, Any]) -> HttpAnswer:
    outcome = fire.run_for_request(service, trigger, payload, deadline_s=ANSWER_S)
    if outcome.waits:
        return HttpAnswer(503, '{"error": "The trigger cannot run now."}', {**JSON, "retry-after": "60"})
    if not outcome.ok:
        return HttpAnswer(500, '{"error": "The trigger could not handle this request."}', JSON)
    return outcome.response or HttpAnswer(200, SUCCESS, JSON)


def _receive_push(service: Service, trigger: DeployedTrigger, received: InboundRequest) -> HttpAnswer | None:
    """Receive a request at the address of ``trigger``, and return the response; None for a trigger without pushes."""
    push = calls.push_of(service, trigger)
    if push is None:
        return None
    event = verified_event(received)
    challenge = webhooks.challenge_answer(push, event)
    if challenge is not None:
        return HttpAnswer(200, challenge[:MAX_CHALLENGE], _TEXT)
    secret = trigger_memory.read(service, trigger).get(SECRET)
    notification = webhooks.read(push, secret, event) if secret else None
    if notification is None:
        log.info("A request to %s was ignored: it does not bear the secret.", trigger.id)
        return HttpAnswer(401, "The secret does not fit.", _TEXT)
    if notification.look:
        now = service.clock()
        with service.store.write() as tx:
            lifecycle.poll_soon(tx, trigger.id, now)
            if notification.renew:
                subscriptions.renew_soon(tx, trigger.id, now)
        service.wake()
    return HttpAnswer(202, "", _TEXT)
