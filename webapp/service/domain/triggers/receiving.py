"""Requests to triggers' own URLs: each is kept before it is answered.

A native trigger's event is committed with its deliveries before the answer. A request for a source is kept in its inbox
and run by the worker (:mod:`inbox`); one for a source that answers by itself is run at once, and the caller
waits. Addresses that never were, that are deleted and that are paused cannot be told apart.
"""

from collections.abc import Mapping
from typing import Any

from webapp import quotas
from webapp.errors import Conflict, NotFound, PatchbayError, TooLarge
from webapp.kit.clock import MINUTE, SECOND
from webapp.service.components.calls import HttpAnswer, Reply
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import prop_values
from webapp.service.domain.deliveries.events import ReceivedRequest
from webapp.service.domain.triggers import deployed_triggers, event_sight, firing, inbox, plans, recording, requests
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.inbox import QueuedRequest
from webapp.service.domain.triggers.pieces import handshakes
from webapp.service.domain.triggers.push import notifications
from webapp.service.domain.triggers.requests import InboundRequest
from webapp.service.outbound.outcomes import one_line
from webapp.store.contract import Tx

ANSWER_S = 25.0
SUCCESS = '{"success": true}'
JSON = {"content-type": "application/json"}
MAX_SUMMARY = 200
MAX_EVENT_BYTES = 48 * 1024 * 1024  # of a request's event, where a body of 10 MiB stands twice
_PAUSE_MS = MINUTE
NOTHING = "There is nothing at this address."


def listener(service: Service, key: str) -> DeployedTrigger:
    """The trigger that listens at ``/h/<key>`` now, or is just being switched on. Raises :class:`NotFound`."""
    trigger = deployed_triggers.by_endpoint(service.store, key)
    if trigger is None or not (trigger.active or _is_tried(service, trigger)):
        raise NotFound(NOTHING)
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
    return answers_synchronously(trigger) or handshakes.expected(service, trigger) is not None


def receive_request(service: Service, trigger: DeployedTrigger, received: InboundRequest) -> HttpAnswer:
    """Take a request in for ``trigger``, and say what to answer. Everything that was accepted is committed.

    Raises :class:`NotFound` (paused or deleted meanwhile), :class:`webapp.errors.Throttled` (too many wait),
    :class:`TooLarge`, :class:`webapp.errors.Unavailable`.
    """
    if trigger.emitter == "http":
        return _native(service, trigger, requests.kept(received))
    if (told := notifications.receive(service, trigger, received)) is not None:
        return told
    request = requests.kept(received, timestamp=received.at)
    _measured(request, inbox.MAX_BYTES)
    if (handshake := handshakes.answer(service, trigger, request)) is not None:
        return handshake
    if answers_synchronously(trigger):
        return _answered(service, trigger, request.payload())
    if not trigger.active:
        raise NotFound(NOTHING)  # only its address is being tried
    try:
        inbox.add(service, trigger, request)
    except Conflict as error:  # deleted meanwhile
        raise NotFound(NOTHING) from error
    service.wake()
    return HttpAnswer(200, SUCCESS, JSON)


def run_queued(service: Service, waiting: QueuedRequest) -> None:
    """Run a source for the request that :func:`inbox.claim` gave; what comes of it is written down.

    While the trigger is paused, its account is dead or the runner is away, the request waits without counting as tried.
    Whatever else goes wrong counts, so that no request holds up those behind it for good.
    """
    try:
        _run_queued(service, waiting)
    except PatchbayError:
        raise
    except Exception:
        with service.store.write() as tx:
            inbox.retry_or_drop(tx, waiting, service.clock(), "What came of its run could not be written down.")
        raise


def _run_queued(service: Service, waiting: QueuedRequest) -> None:
    trigger = deployed_triggers.find(service.store, waiting.trigger_id)
    if trigger is None:
        return  # its requests went with it
    if trigger.active and trigger.hears_events and not _is_for_its_account(service, trigger, waiting):
        return
    if not trigger.active or firing.request(service, trigger, waiting.request, settle=_settle(service, waiting)).waits:
        with service.store.write() as tx:
            inbox.postpone(tx, waiting, service.clock() + _PAUSE_MS)


def _is_for_its_account(service: Service, trigger: DeployedTrigger, waiting: QueuedRequest) -> bool:
    """Whether the event may be seen by the account; what may not is struck out, and what cannot be told waits."""
    sees = event_sight.sees(service, trigger, waiting.request)
    if sees:
        return True
    with service.store.write() as tx:
        if sees is None:
            inbox.retry_or_drop(tx, waiting, service.clock(), "Whether the account may see it could not be asked.")
        else:
            inbox.complete(tx, waiting)
    return False


def _is_tried(service: Service, trigger: DeployedTrigger) -> bool:
    """Whether its provider may be trying its address, as some do before they answer who subscribes."""
    if not caller_waits(service, trigger):
        return False
    plan = plans.find(service.store, trigger.id)
    return plan is not None and plan.phase in ("subscribe", "restore")


def _native(service: Service, trigger: DeployedTrigger, request: ReceivedRequest) -> HttpAnswer:
    size = _measured(request, MAX_EVENT_BYTES)
    summary = one_line(f"{request.facts['method']} {request.facts['path']}", MAX_SUMMARY)
    with service.store.write(shared=True) as tx:
        now = deployed_triggers.find(tx, trigger.id)
        if now is None or not now.active:
            raise NotFound(NOTHING)
        recording.record_request(tx, service, now, request, summary, size)
    service.wake()
    return _chosen_response(service, trigger)


def _measured(request: ReceivedRequest, most: int) -> int:
    """How many bytes of JSON ``request`` has. Raises :class:`TooLarge` for more than ``most``."""
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


def _answered(service: Service, trigger: DeployedTrigger, payload: dict[str, Any]) -> HttpAnswer:
    outcome = firing.request(service, trigger, payload, deadline_s=ANSWER_S)
    if outcome.waits:
        return HttpAnswer(503, '{"error": "The trigger cannot run now."}', {**JSON, "retry-after": "60"})
    if not outcome.ok:
        return HttpAnswer(500, '{"error": "The trigger could not handle this request."}', JSON)
    return outcome.response or HttpAnswer(200, SUCCESS, JSON)


def _settle(service: Service, waiting: QueuedRequest) -> firing.Settle:
    def settle(tx: Tx, reply: Reply) -> bool:
        if reply.error is None:
            return inbox.complete(tx, waiting)
        now = service.clock()
        if reply.error.kind == "runner":
            return inbox.postpone(tx, waiting, now + 5 * SECOND)
        return inbox.retry_or_drop(tx, waiting, now, reply.error.message)

    return settle
