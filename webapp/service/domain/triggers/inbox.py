"""Requests to triggers' own URLs: each is stored before it is answered, and those for a source wait in the inbox for
their run (table ``trigger_inbox``).

A native trigger's event is committed with its deliveries before the response. A request for a source is sealed in the
inbox and run by the worker; one for a source that responds itself is run at once, and the caller waits. The requests of
one trigger are run one after another in their order: while one is retried, later ones wait. A request is tried at once,
and after a failure again in 5 seconds, 30 seconds, 2, 10 and 30 minutes (:data:`RETRIES_S`); after the sixth failure it
is dropped, with a line in the log. A claim is a lease longer than a run may take, fenced by ``turn``. Addresses that
never existed, were deleted or are paused are answered alike.

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

import orjson

from webapp import quotas
from webapp.errors import Conflict, NotFound, PatchbayError, Throttled, TooLarge
from webapp.kit.clock import MINUTE, SECOND
from webapp.kit.crypto import ordered_id
from webapp.kit.text import one_line
from webapp.service.components.calls import HttpAnswer, Reply
from webapp.service.components.declared import definition, webhooks
from webapp.service.components.declared.form import Push, TriggerForm
from webapp.service.components.declared.webhooks import SECRET
from webapp.service.components.errors import LoadError
from webapp.service.components.masking import MASK
from webapp.service.components.wire import MAX_MESSAGE
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.components import prop_values
from webapp.service.domain.deliveries import events
from webapp.service.domain.deliveries.events import ReceivedRequest
from webapp.service.domain.triggers import (
    calls,
    deployed_triggers,
    event_listeners,
    fire,
    lifecycle,
    pending_changes,
    piece_triggers,
    subscriptions,
    trigger_state,
)
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Row, Tx, claiming

log = logging.getLogger(__name__)

# Requests, and the inbox.
MASKED = frozenset({"authorization", "proxy-authorization", "cookie"})
RETRIES_S = (5, 30, 120, 600, 1800)
LEASE = 2 * MINUTE
MAX_WAITING = 1_000
MAX_BYTES = MAX_MESSAGE - 2**20  # of a request as JSON: it goes to the runner in one message, with the values
FULL_RETRY_S = 60
_TOO_MANY_WAIT = "Too many requests wait for this trigger."
SEALED = SealedColumn("trigger_inbox", "request_sealed")
# Answers.
ANSWER_S = 25.0
SUCCESS = '{"success": true}'
JSON = {"content-type": "application/json"}
MAX_SUMMARY = 200
MAX_EVENT_BYTES = 48 * 1024 * 1024  # of a request's event, which contains a body of 10 MiB twice
_PAUSE_MS = MINUTE
NOT_FOUND = "There is nothing at this address."
# Pushes.
MAX_CHALLENGE = 4_096  # characters of what an app sends to verify an address
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


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(_without_surrogates(name), []).append(_without_surrogates(value))
    return {name: values[0] if len(values) == 1 else values for name, values in groups.items()}


def _headers(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Repeated headers are joined by commas (RFC 9110 section 5.3)."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        name = name.lower()
        shown = MASK if name in MASKED else _without_surrogates(value)
        headers[name] = f"{headers[name]}, {shown}" if name in headers and shown != MASK else shown
    return headers


def _without_surrogates(text: str) -> str:
    """``text`` without lone surrogates, which no JSON may hold."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class QueuedRequest:
    """A request that was claimed. ``request`` is what the trigger gets as ``ctx.event``; ``tries`` have failed."""

    id: str
    trigger_id: str
    project_id: str
    turn: int
    tries: int
    received_at: int
    request: dict[str, Any] = field(repr=False)


def add(service: Service, trigger: DeployedTrigger, request: ReceivedRequest) -> None:
    """Accept ``request`` for ``trigger`` as :func:`put` does, in its own transaction. Call ``service.wake()`` then."""
    with service.store.write() as tx:
        put(tx, service, trigger, request)


def put(tx: Tx, service: Service, trigger: DeployedTrigger, request: ReceivedRequest) -> None:
    """Accept ``request`` for ``trigger`` in a transaction of the caller's.

    Raises :class:`Throttled` if :data:`MAX_WAITING` requests wait already, :class:`webapp.errors.TooLarge` if too much
    is stored, :class:`webapp.errors.Conflict` if the trigger was removed.
    """
    plain, beside = request.packed()
    now, request_id, project_id = service.clock(), ordered_id("in"), trigger.scene.project_id
    sql = "SELECT COUNT(*), COALESCE(SUM(kept), 0) FROM trigger_inbox WHERE trigger_id = :id"
    ((waiting, waiting_bytes),) = tx.tuples(sql, {"id": trigger.id})
    if waiting >= MAX_WAITING:
        raise Throttled(MAX_WAITING, now // SECOND + FULL_RETRY_S, FULL_RETRY_S, _TOO_MANY_WAIT)
    fire.check_storage(tx, service, trigger, int(waiting_bytes) + len(plain) + len(beside))
    tx.run(
        "INSERT INTO trigger_inbox (id, trigger_id, project_id, request_sealed, kept, in_parts, received_at, "
        "next_at) VALUES (:id, :trigger, :project, :sealed, :kept, :in_parts, :now, :now)",
        {
            "id": request_id,
            "trigger": trigger.id,
            "project": project_id,
            "sealed": SEALED.seal(service, tx, project_id, request_id, plain),
            "kept": len(plain) + len(beside),
            "in_parts": int(bool(beside)),
            "now": now,
        },
    )
    events.store_parts(tx, service, project_id, "request_id", request_id, beside)


def claim(service: Service) -> QueuedRequest | None:
    """Claim the request that has been due for longest, of a trigger none of whose requests is being run; None if there
    is none."""
    now = service.clock()
    if service.store.one("SELECT 1 AS due FROM trigger_inbox WHERE next_at <= :now LIMIT 1", {"now": now}) is None:
        return None  # an idle worker takes no write lock
    with service.store.write(shared=True) as tx:
        row = tx.one(
            "WITH due AS (SELECT id FROM trigger_inbox AS one WHERE next_at <= :now AND lease_until <= :now "  # noqa: S608
            "AND NOT EXISTS (SELECT 1 FROM trigger_inbox AS other WHERE other.trigger_id = one.trigger_id "
            f"AND other.id < one.id) ORDER BY next_at, id LIMIT 1{claiming(tx)}) "
            "UPDATE trigger_inbox SET turn = turn + 1, lease_until = :until, holder = :holder "
            "WHERE id IN (SELECT id FROM due) "
            "RETURNING id, trigger_id, project_id, turn, tries, received_at, request_sealed, in_parts",
            {"now": now, "until": now + LEASE, "holder": service.generation},
        )
    return _queued(service, row) if row else None


def next_due_at(reader: Reader, now: int) -> int | None:
    """When the next request may be claimed, in epoch milliseconds; ``now`` or earlier when one may be already."""
    row = reader.one(
        "SELECT MIN(CASE WHEN lease_until > :now AND lease_until > next_at THEN lease_until ELSE next_at END) AS at "
        "FROM trigger_inbox AS one WHERE NOT EXISTS (SELECT 1 FROM trigger_inbox AS other "
        "WHERE other.trigger_id = one.trigger_id AND other.id < one.id)",
        {"now": now},
    )
    return row["at"] if row else None


def realign(tx: Tx, now: int) -> int:
    """After the clock was set back, make due now what waits for a time too far in the future; return the number."""
    return tx.run(
        "UPDATE trigger_inbox SET next_at = :now, lease_until = CASE WHEN lease_until > :lease THEN :lease "
        "ELSE lease_until END, received_at = CASE WHEN received_at > :now THEN :now ELSE received_at END "
        "WHERE received_at > :now OR next_at > :longest OR lease_until > :lease",
        {"now": now, "lease": now + LEASE, "longest": now + RETRIES_S[-1] * SECOND},
    )


def take_over(tx: Tx, service: Service, dead: int) -> int:
    """Make due now what the generation ``dead`` was running; return their number."""
    sql = "UPDATE trigger_inbox SET lease_until = 0, holder = NULL, turn = turn + 1 WHERE holder = :dead"
    return tx.run(sql, {"dead": dead})


def complete(tx: Tx, queued: QueuedRequest) -> bool:
    """Delete ``queued``, in the transaction that stores what its run emitted; return False if another claim holds
    it, and nothing of the run may be stored.
    """
    sql = "DELETE FROM trigger_inbox WHERE id = :id AND turn = :turn"
    return bool(tx.run(sql, {"id": queued.id, "turn": queued.turn}))


def retry_or_drop(tx: Tx, queued: QueuedRequest, now: int, sentence: str) -> bool:
    """Have ``queued`` tried again later, or drop it after the last attempt; return False if another claim holds it."""
    if queued.tries < len(RETRIES_S):
        return _put_back(tx, queued, now + RETRIES_S[queued.tries] * SECOND, queued.tries + 1)
    ours = complete(tx, queued)
    if ours:
        log.warning("A request to %s was given up after %d runs: %s", queued.trigger_id, queued.tries + 1, sentence)
    return ours


def postpone(tx: Tx, queued: QueuedRequest, until: int) -> bool:
    """Postpone ``queued`` (epoch milliseconds), without counting an attempt; return False if another claim holds it."""
    return _put_back(tx, queued, until, queued.tries)


def _put_back(tx: Tx, queued: QueuedRequest, at: int, tries: int) -> bool:
    return bool(
        tx.run(
            "UPDATE trigger_inbox SET next_at = :at, lease_until = 0, holder = NULL, tries = :tries "
            "WHERE id = :id AND turn = :turn",
            {"at": at, "tries": tries, "id": queued.id, "turn": queued.turn},
        )
    )


def _queued(service: Service, row: Row) -> QueuedRequest:
    plain = SEALED.open(service, row["project_id"], row["id"], row["request_sealed"])
    facts = {name: row[name] for name in ("id", "trigger_id", "project_id", "turn", "tries", "received_at")}
    if not events.is_packed(plain):  # kept by an earlier version
        return QueuedRequest(**facts, request=orjson.loads(plain))
    content = events.read_parts(service, row["project_id"], "request_id", row["id"]) if row["in_parts"] else b""
    return QueuedRequest(**facts, request=events.unpacked(plain, content).payload())


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
        add(service, trigger, request)
    except Conflict as error:  # deleted meanwhile
        raise NotFound(NOT_FOUND) from error
    service.wake()
    return HttpAnswer(200, SUCCESS, JSON)


def run_queued(service: Service, waiting: QueuedRequest) -> None:
    """Run a source for the request that :func:`claim` returned, and store the results.

    While the trigger is paused, its account is dead or the runner is away, the request waits without counting as tried.
    Whatever else goes wrong counts, so that no request holds up those behind it for good.
    """
    try:
        _run_queued(service, waiting)
    except PatchbayError:
        raise
    except Exception:
        with service.store.write() as tx:
            retry_or_drop(tx, waiting, service.clock(), "The result of the run could not be stored.")
        raise


def _run_queued(service: Service, waiting: QueuedRequest) -> None:
    trigger = deployed_triggers.find(service.store, waiting.trigger_id)
    if trigger is None:
        return  # it was deleted with its requests
    if trigger.active and trigger.receives_app_events and not _is_for_its_account(service, trigger, waiting):
        return
    if (
        not trigger.active
        or fire.run_for_request(
            service, trigger, waiting.request, complete_request=_complete_or_retry(service, waiting)
        ).waits
    ):
        with service.store.write() as tx:
            postpone(tx, waiting, service.clock() + _PAUSE_MS)


def _is_for_its_account(service: Service, trigger: DeployedTrigger, waiting: QueuedRequest) -> bool:
    """Whether the account may see the event; if not, it is deleted, and if that is unknown, it waits."""
    sees = event_listeners.account_sees(service, trigger, waiting.request)
    if sees:
        return True
    with service.store.write() as tx:
        if sees is None:
            retry_or_drop(
                tx, waiting, service.clock(), "The provider did not say whether the account may see the event."
            )
        else:
            complete(tx, waiting)
    return False


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


def _complete_or_retry(service: Service, waiting: QueuedRequest) -> fire.CompleteRequest:
    def complete_request(tx: Tx, reply: Reply) -> bool:
        if reply.error is None:
            return complete(tx, waiting)
        now = service.clock()
        if reply.error.kind == "runner":
            return postpone(tx, waiting, now + 5 * SECOND)
        return retry_or_drop(tx, waiting, now, reply.error.message)

    return complete_request


def _receive_push(service: Service, trigger: DeployedTrigger, received: InboundRequest) -> HttpAnswer | None:
    """Receive a request at the address of ``trigger``, and return the response; None for a trigger without pushes."""
    push = _push(service, trigger) if trigger.polls_when_notified else None
    if push is None:
        return None
    event = stored_request(received, timestamp=received.at).payload()
    challenge = webhooks.challenge_answer(push, event)
    if challenge is not None:
        return HttpAnswer(200, challenge[:MAX_CHALLENGE], _TEXT)
    secret = trigger_state.read(service, trigger).get(SECRET)
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


def _push(service: Service, trigger: DeployedTrigger) -> Push | None:
    component = calls.component_of(service, trigger)
    if component is None or "renew" not in component.hooks:
        return None
    try:
        form = definition.component(component.path).form
    except LoadError:
        return None
    return form.push if isinstance(form, TriggerForm) else None
