"""Calls of agents that wait for a person's yes (table ``agent_approvals``): asking, waiting for the answer, and
ending.

A call waits ten minutes, in whichever process. The same call, by the same agent with the same values, is asked for
once, however often it is sent. A yes lets it run once, within ten minutes; a no stands as long, so that nobody is
asked again and again. Every decision is a row, so that it is seen by every process and survives a restart. Values
are sealed; those of secret props are not kept at all. Ending an agent's access ends the calls that it still waits
for.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from webapp import audit
from webapp.errors import Conflict, Forbidden, NotFound
from webapp.kit.clock import DAY, MINUTE, iso
from webapp.kit.crypto import new_id
from webapp.quotas import USER_APPROVALS
from webapp.service.domain.agents import sessions
from webapp.service.domain.agents.sessions import AgentSession
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.components import component_requests, grants, prop_values
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.prop_values import Values
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

State = Literal["waiting", "approved", "refused", "used", "expired"]
WAITS = 10 * MINUTE
KEPT = 30 * DAY
OWN_CALL = "An agent cannot answer its own call; the person does that, signed in here or in the product's portal."
ABSENT = "There is no such call of an agent."
DECIDED = "This call does not wait for an answer any more."
LOOK_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Approval:
    """One call that waits or waited. ``action`` is the component's key. Times are epoch milliseconds."""

    id: str
    scene: Scene
    external_user_id: str
    session_id: str
    agent: str
    token_hash: str
    app: str
    action: str
    version: str
    digest: str
    state: State
    created_at: int
    expires_at: int
    decided_at: int | None = None

    def at(self, now: int) -> "Approval":
        """The approval as it is at ``now``: what nobody answered or used in time has expired."""
        over = self.state in ("waiting", "approved") and self.expires_at <= now
        return replace(self, state="expired") if over else self

    def to_json(self) -> dict[str, Any]:
        """The approval as the API shows it, but for its values."""
        return {
            "id": self.id,
            "agent": self.agent,
            "session_id": self.session_id,
            "app": self.app or None,
            "component_key": self.action,
            "component_version": self.version,
            "state": self.state,
            "created_at": iso(self.created_at),
            "expires_at": iso(self.expires_at),
            "decided_at": iso(self.decided_at) if self.decided_at is not None else None,
        }


_INPUTS = SealedColumn("agent_approvals", "inputs_sealed")
SEALED = _INPUTS
_APPROVALS = Table("agent_approvals", Approval, write_only=("inputs_sealed",))
_RECENT = "external_user_id = :user ORDER BY created_at DESC, id DESC LIMIT :limit"
_SAME = (
    "external_user_id = :user AND session_id = :session AND digest = :digest AND state <> 'used' "
    "AND expires_at > :now ORDER BY created_at DESC, id DESC LIMIT 1"
)


def add(service: Service, tx: Tx, approval: Approval, inputs: Mapping[str, Any]) -> None:
    """Let ``approval`` wait, with its values. Raises :class:`Forbidden` where too many of the user's wait."""
    where = "external_user_id = :user AND state = 'waiting' AND expires_at > :now"
    count = _APPROVALS.count(tx, where, {"user": approval.external_user_id, "now": approval.created_at})
    service.hold(USER_APPROVALS, count + 1)
    sealed = _INPUTS.seal(service, tx, approval.scene.project_id, approval.id, orjson.dumps(inputs))
    _APPROVALS.insert(tx, approval, inputs_sealed=sealed)


def same_call(reader: Reader, user: ExternalUser, session_id: str, digest: str, now: int) -> Approval | None:
    """What was asked already for the same call, and still counts."""
    params = {"user": user.id, "session": session_id, "digest": digest, "now": now}
    return _APPROVALS.one(reader, _SAME, params)


def current(service: Service, reader: Reader, approval: Approval) -> Approval:
    """``approval`` as it stands now; gone with its user, it is answered by nobody."""
    row = _APPROVALS.get(reader, approval.id)
    return row.at(service.clock()) if row else replace(approval, state="expired")


def use(service: Service, tx: Tx, approval: Approval) -> bool:
    """Use up the yes to ``approval``; whether there was one that still counts."""
    if current(service, tx, approval).state != "approved":
        return False
    sql = "UPDATE agent_approvals SET state = 'used' WHERE id = :id AND state = 'approved'"
    return bool(tx.run(sql, {"id": approval.id}))


def decide(service: Service, user: ExternalUser, approval_id: str, *, yes: bool, token_hash: str = "") -> Approval:
    """Answer a call of an agent of ``user``; ``token_hash`` is that of the Connect token by which the answer comes.

    Raises :class:`NotFound`, :class:`Conflict` where it waits no longer, and :class:`Forbidden` for the agent's own
    token: the person decides, not whoever asks.
    """
    now = service.clock()
    with service.store.write() as tx:
        approval = get(service, tx, user, approval_id)
        if token_hash and (token_hash == approval.token_hash or sessions.is_bearer_of_agent(tx, token_hash)):
            raise Forbidden(OWN_CALL)
        if approval.state != "waiting":
            raise Conflict(DECIDED)
        state: State = "approved" if yes else "refused"
        decided = replace(approval, state=state, decided_at=now, expires_at=now + WAITS)
        if not _decided(tx, decided):
            raise Conflict(DECIDED)
        sentence = f"{'Allowed' if yes else 'Refused'} a call of {approval.action} by the agent “{approval.agent}”."
        where = {**user.scene.params, "external_user_id": user.id}
        audit.write(tx, now, "agent", approval.id, state, sentence, **where)
    return decided


def withdraw(service: Service, session_id: str) -> None:
    """Let nothing run that the agent of ``session_id`` asked for: what waits, and what was allowed and not used."""
    now = service.clock()
    sql = (
        "UPDATE agent_approvals SET state = 'refused', decided_at = :now, expires_at = :now "
        "WHERE session_id = :session AND external_user_id = (SELECT external_user_id FROM agent_sessions "
        "WHERE id = :session) AND state IN ('waiting', 'approved') AND expires_at > :now"
    )
    with service.store.write() as tx:
        tx.run(sql, {"session": session_id, "now": now})


def get(service: Service, reader: Reader, user: ExternalUser, approval_id: str) -> Approval:
    """The approval ``approval_id`` of ``user``. Raises :class:`NotFound`."""
    approval = _APPROVALS.get(reader, approval_id)
    if approval is None or approval.external_user_id != user.id:
        raise NotFound(ABSENT)
    return approval.at(service.clock())


def recent(service: Service, scene: Scene, external_id: str, *, limit: int = 100) -> list[Approval]:
    """What agents of a user asked for: first what waits for an answer, then the newest of the others."""
    user = external_users.find(service.store, scene, external_id)
    if user is None:
        return []
    now = service.clock()
    params = {"user": user.id, "limit": limit + service.settings.quotas[USER_APPROVALS.name]}
    approvals = [approval.at(now) for approval in _APPROVALS.all(service.store, _RECENT, params)]
    waiting = [approval for approval in approvals if approval.state == "waiting"]
    return waiting + [approval for approval in approvals if approval.state != "waiting"][:limit]


def inputs(service: Service, approval: Approval) -> dict[str, Any]:
    """The values of a call, and the names of those that are kept back."""
    row = service.store.one("SELECT inputs_sealed FROM agent_approvals WHERE id = :id", {"id": approval.id})
    if row is None:
        raise NotFound(ABSENT)
    values: dict[str, Any] = orjson.loads(
        _INPUTS.open(service, approval.scene.project_id, approval.id, row["inputs_sealed"])
    )
    return values


def purge(service: Service) -> int:
    """Forget what was asked for more than 30 days ago; how many there were."""
    with service.store.write() as tx:
        limit = {"limit": service.clock() - KEPT}
        return tx.run("DELETE FROM agent_approvals WHERE created_at < :limit", limit)


def _decided(tx: Tx, approval: Approval) -> bool:
    """Write the answer down, unless somebody was quicker."""
    values = {"id": approval.id, "state": approval.state, "at": approval.decided_at, "end": approval.expires_at}
    sql = "UPDATE agent_approvals SET state = :state, decided_at = :at, expires_at = :end "
    return bool(tx.run(sql + "WHERE id = :id AND state = 'waiting'", values))


def ask(service: Service, request: ComponentRequest, session: AgentSession) -> Approval:
    """Ask the person for the call ``request`` of the agent ``session``; nobody is asked for what could not run.

    The same call is asked for once: its state is ``waiting``, or what the person answered. Raises
    :class:`webapp.errors.Invalid`, :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Forbidden` where too many
    wait.
    """
    props = component_requests.props_to_fill(service, request)
    values = prop_values.checked(props, request.configured, whole=True)
    grants.find_accounts(service, request.scene, request.external_id, props, values.accounts)
    kept, masked = prop_values.without_secrets(props, _shown(values))
    now, digest = service.clock(), _digest(service, request)
    with service.store.write() as tx:
        user = external_users.ensure(tx, request.scene, request.external_id, now)
        earlier = same_call(tx, user, session.id, digest, now)
        if earlier is not None:
            return earlier
        approval = Approval(
            id=new_id("apr"),
            scene=request.scene,
            external_user_id=user.id,
            session_id=session.id,
            agent=session.name,
            token_hash=session.token_hash,
            app=request.component.app or "",
            action=request.component.key,
            version=request.component.version,
            digest=digest,
            state="waiting",
            created_at=now,
            expires_at=now + WAITS,
        )
        add(service, tx, approval, {"configured_props": kept, "masked_props": masked})
    return approval


def wait(service: Service, approval: Approval, seconds: float, stopped: Callable[[], bool] = lambda: False) -> Approval:
    """``approval`` once it is answered, or after ``seconds``, or when ``stopped``. No transaction is open meanwhile."""
    end = time.monotonic() + seconds
    while approval.state == "waiting" and time.monotonic() < end and not stopped():
        time.sleep(min(LOOK_EVERY_S, max(0.0, end - time.monotonic())))
        approval = current(service, service.store, approval)
    return approval


def claim(service: Service, approval: Approval) -> bool:
    """Use a yes up: whether the call may run now. It is true once for each yes."""
    with service.store.write() as tx:
        return use(service, tx, approval)


def _shown(values: Values) -> dict[str, Any]:
    """What the call would run with, and nothing else: not a label or a name that the agent made up."""
    accounts = {name: {"authProvisionId": account_id} for name, account_id in values.accounts.items()}
    return {**accounts, **values.props}


def _digest(service: Service, request: ComponentRequest) -> str:
    """What two calls that are the same have in common."""
    names = [request.component.key, request.component.version, request.dynamic_props_id, request.stash_id]
    return service.keys.keyed_hash("agent-approvals", json.dumps([names, dict(request.configured)], sort_keys=True))


def end_session(service: Service, user: ExternalUser, session_id: str) -> None:
    """Let an agent in no more, and let nothing run that it asked for. Raises :class:`webapp.errors.NotFound`."""
    sessions.end(service, user, session_id)
    withdraw(service, session_id)
