"""The inbox of triggers (table ``trigger_inbox``): requests for sources, each of which waits for its run.

A request is sealed in the inbox before it is answered, and run by the worker. The requests of one trigger are run one
after another in their order: while one is retried, later ones wait. A request is tried at once, and after a failure
again in 5 seconds, 30 seconds, 2, 10 and 30 minutes (:data:`RETRIES_S`); after the sixth failure it is dropped, with a
line in the log. A claim is a lease longer than a run may take, fenced by ``turn``.
"""

import logging
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.errors import PatchbayError, Throttled
from webapp.kit.clock import MINUTE, SECOND
from webapp.kit.crypto import ordered_id
from webapp.service.components.calls import Reply
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.deliveries import events
from webapp.service.domain.deliveries.events import ReceivedRequest
from webapp.service.domain.triggers import deployed_triggers, event_listeners, fire
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Reader, Row, Tx, claiming

log = logging.getLogger(__name__)

RETRIES_S = (5, 30, 120, 600, 1800)
MAX_WAITING = 1_000
FULL_RETRY_S = 60
SEALED = SealedColumn("trigger_inbox", "request_sealed")
_TOO_MANY_WAIT = "Too many requests wait for this trigger."
_PAUSE_MS = MINUTE
_FIRST_OF_ITS_TRIGGER = (  # so that the requests of a trigger are run in their order, even while one is retried
    "NOT EXISTS (SELECT 1 FROM trigger_inbox AS other WHERE other.trigger_id = one.trigger_id AND other.id < one.id)"
)


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
            f"AND {_FIRST_OF_ITS_TRIGGER} ORDER BY next_at, id LIMIT 1{claiming(tx)}) "
            "UPDATE trigger_inbox SET turn = turn + 1, lease_until = :until, holder = :holder "
            "WHERE id IN (SELECT id FROM due) "
            "RETURNING id, trigger_id, project_id, turn, tries, received_at, request_sealed, in_parts",
            {"now": now, "until": now + leases.RECEIVED, "holder": service.generation},
        )
    return _queued(service, row) if row else None


def next_due_at(reader: Reader, now: int) -> int | None:
    """When the next request may be claimed, in epoch milliseconds; ``now`` or earlier when one may be already."""
    row = reader.one(
        "SELECT MIN(CASE WHEN lease_until > :now AND lease_until > next_at THEN lease_until ELSE next_at END) AS at "  # noqa: S608
        f"FROM trigger_inbox AS one WHERE {_FIRST_OF_ITS_TRIGGER}",
        {"now": now},
    )
    return row["at"] if row else None


def realign(tx: Tx, now: int) -> int:
    """After the clock was set back, make due now what waits for a time too far in the future; return the number."""
    return tx.run(
        "UPDATE trigger_inbox SET next_at = :now, lease_until = CASE WHEN lease_until > :lease THEN :lease "
        "ELSE lease_until END, received_at = CASE WHEN received_at > :now THEN :now ELSE received_at END "
        "WHERE received_at > :now OR next_at > :longest OR lease_until > :lease",
        {"now": now, "lease": now + leases.RECEIVED, "longest": now + RETRIES_S[-1] * SECOND},
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


def _complete_or_retry(service: Service, waiting: QueuedRequest) -> fire.CompleteRequest:
    def complete_request(tx: Tx, reply: Reply) -> bool:
        if reply.error is None:
            return complete(tx, waiting)
        now = service.clock()
        if reply.error.kind == "runner":
            return postpone(tx, waiting, now + 5 * SECOND)
        return retry_or_drop(tx, waiting, now, reply.error.message)

    return complete_request
