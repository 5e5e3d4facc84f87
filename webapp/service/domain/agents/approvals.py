"""Approvals: calls of agents that need a person's consent (table ``agent_approvals``).

A call waits ten minutes for an answer. A repeated call, by the same agent with the same values, shares one approval.
A yes lets the call run once, within ten minutes; a no is kept for ten minutes, so that the person is not asked again
at once. Decisions are rows, so every process sees them and they survive a restart. Values are sealed; those of secret
props are not kept. Ending an agent's access refuses its open calls. Running a call is left to the caller.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import orjson

from webapp import audit
from webapp.errors import Conflict, Forbidden, NotFound
from webapp.kit.clock import MINUTE, iso
from webapp.kit.crypto import new_id
from webapp.quotas import USER_APPROVALS
from webapp.service.domain.agents import sessions
from webapp.service.domain.agents.sessions import AgentSession
from webapp.service.domain.base import log_retention, token_scopes
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.components import account_grants, component_requests, prop_values, run_files
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.prop_values import Values
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.log_entries import USER_NAME, LogEntry, LogRow, LogSource, Status
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

State = Literal["waiting", "approved", "refused", "used", "expired"]
WAITS = 10 * MINUTE
OWN_CALL = "An agent cannot answer its own call; the person does that, signed in here or in the product's portal."
ABSENT = "There is no such call of an agent."
DECIDED = "This call does not wait for an answer any more."


@dataclass(frozen=True, slots=True)
class Approval:
    """One call that needs consent. ``action`` is the component's key. Times are epoch milliseconds."""

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
        """The approval at ``now``: expired if it was not answered, or not used, in time."""
        over = self.state in ("waiting", "approved") and self.expires_at <= now
        return replace(self, state="expired") if over else self

    def to_json(self) -> dict[str, Any]:
        """The approval as the API shows it, without its values."""
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
    """Store ``approval`` and its values. Raises :class:`Forbidden` if too many of the user's calls wait."""
    where = "external_user_id = :user AND state = 'waiting' AND expires_at > :now"
    count = _APPROVALS.count(tx, where, {"user": approval.external_user_id, "now": approval.created_at})
    service.check_quota(USER_APPROVALS, count + 1)
    sealed = _INPUTS.seal(service, tx, approval.scene.project_id, approval.id, orjson.dumps(inputs))
    _APPROVALS.insert(tx, approval, inputs_sealed=sealed)


def _same_call(reader: Reader, user: ExternalUser, session_id: str, digest: str, now: int) -> Approval | None:
    """The unexpired, unused approval of the same call, if there is one."""
    params = {"user": user.id, "session": session_id, "digest": digest, "now": now}
    return _APPROVALS.one(reader, _SAME, params)


def current(service: Service, reader: Reader, approval: Approval) -> Approval:
    """The current state of ``approval``; expired if it was deleted with its user."""
    row = _APPROVALS.get(reader, approval.id)
    return row.at(service.clock()) if row else replace(approval, state="expired")


def use(service: Service, tx: Tx, approval: Approval) -> bool:
    """Mark ``approval`` as used, and return True if it was approved and neither used nor expired."""
    if current(service, tx, approval).state != "approved":
        return False
    sql = "UPDATE agent_approvals SET state = 'used' WHERE id = :id AND state = 'approved'"
    return bool(tx.run(sql, {"id": approval.id}))


def decide(service: Service, user: ExternalUser, approval_id: str, *, yes: bool, token_hash: str = "") -> Approval:
    """Approve or refuse a call of an agent of ``user``; ``token_hash`` is that of the Connect token of the request.

    Raises :class:`NotFound`, :class:`Conflict` if the call no longer waits, and :class:`Forbidden` for an agent's
    token: the person decides, not the agent.
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
        if not _store_decision(tx, decided):
            raise Conflict(DECIDED)
        sentence = f"{'Allowed' if yes else 'Refused'} a call of {approval.action} by the agent “{approval.agent}”."
        where = {**user.scene.params, "external_user_id": user.id}
        audit.write(tx, now, "agent", approval.id, state, sentence, **where)
    return decided


def withdraw(service: Service, session_id: str) -> None:
    """Refuse the calls of the agent ``session_id`` that wait, or that were approved and not used."""
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
    """The approvals of a user: those that wait for an answer first, then the newest ``limit`` of the others."""
    user = external_users.find(service.store, scene, external_id)
    if user is None:
        return []
    now = service.clock()
    params = {"user": user.id, "limit": limit + service.settings.quotas[USER_APPROVALS.name]}
    approvals = [approval.at(now) for approval in _APPROVALS.all(service.store, _RECENT, params)]
    waiting = [approval for approval in approvals if approval.state == "waiting"]
    return waiting + [approval for approval in approvals if approval.state != "waiting"][:limit]


def inputs(service: Service, approval: Approval) -> dict[str, Any]:
    """The values of a call, and the names of its masked props. Raises :class:`NotFound`."""
    row = service.store.one("SELECT inputs_sealed FROM agent_approvals WHERE id = :id", {"id": approval.id})
    if row is None:
        raise NotFound(ABSENT)
    values: dict[str, Any] = orjson.loads(
        _INPUTS.open(service, approval.scene.project_id, approval.id, row["inputs_sealed"])
    )
    return values


def values_of(service: Service, scene: Scene, approval_id: str) -> dict[str, Any]:
    """The values of a call of ``scene``. Raises :class:`NotFound`."""
    approval = _APPROVALS.get(service.store, approval_id)
    if approval is None or approval.scene != scene:
        raise NotFound(ABSENT)
    return inputs(service, approval)


def purge(service: Service) -> int:
    """Delete approvals that are older than 30 days, and return their number."""
    with service.store.write() as tx:
        limit = {"limit": service.clock() - log_retention.KEPT}
        return tx.run("DELETE FROM agent_approvals WHERE created_at < :limit", limit)


def _store_decision(tx: Tx, approval: Approval) -> bool:
    """Store the answer, and return False if the call was already answered."""
    values = {"id": approval.id, "state": approval.state, "at": approval.decided_at, "end": approval.expires_at}
    sql = "UPDATE agent_approvals SET state = :state, decided_at = :at, expires_at = :end "
    return bool(tx.run(sql + "WHERE id = :id AND state = 'waiting'", values))


def ask(service: Service, request: ComponentRequest, session: AgentSession) -> Approval:
    """Return the approval of the call ``request`` of the agent ``session``, new or that of the same call before.

    The call is validated first, so that a person is asked only for calls that can run. Raises
    :class:`webapp.errors.Invalid`, :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Forbidden` if too many
    calls wait.
    """
    props = component_requests.props_to_fill(service, request)
    values = prop_values.checked(props, request.configured, whole=True)
    account_grants.find_accounts(service, request.scene, request.external_id, props, values.accounts)
    kept, masked = prop_values.without_secrets(props, run_files.described(props, _shown(values)))
    now, digest = service.clock(), _digest(service, request)
    with service.store.write() as tx:
        user = external_users.ensure(tx, request.scene, request.external_id, now)
        earlier = _same_call(tx, user, session.id, digest, now)
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


def claim(service: Service, approval: Approval) -> bool:
    """Return whether the call may run now: True once for each approval."""
    with service.store.write() as tx:
        return use(service, tx, approval)


def _shown(values: Values) -> dict[str, Any]:
    """Only the values that the call would run with, without labels, which the agent could make up."""
    accounts = {name: {"authProvisionId": account_id} for name, account_id in values.accounts.items()}
    return {**accounts, **values.props}


def _digest(service: Service, request: ComponentRequest) -> str:
    """A keyed hash of a call's component and values, equal for equal calls."""
    names = [request.component.key, request.component.version, request.dynamic_props_id, request.stash_id]
    return service.keys.keyed_hash("agent-approvals", json.dumps([names, dict(request.configured)], sort_keys=True))


def end_session(service: Service, user: ExternalUser, session_id: str) -> None:
    """End an agent's access and refuse its open calls. Raises :class:`webapp.errors.NotFound`."""
    sessions.end(service, user, session_id)
    withdraw(service, session_id)


_LOG_STATUSES: Mapping[State, Status] = {
    "waiting": "waiting",
    "approved": "succeeded",
    "used": "succeeded",
    "refused": "failed",
    "expired": "failed",
}


def _log_entry(row: LogRow, now: int) -> LogEntry:
    state = "expired" if row.state in ("waiting", "approved") and row.number <= now else row.state
    return row.entry("agent", _LOG_STATUSES[cast(State, state)], state)


_NOW = "CAST(:now AS BIGINT)"
LOG = LogSource(
    "agent",
    "apr",
    (token_scopes.AGENTS_READ,),
    "agent_approvals",
    {
        "at": "created_at",
        "id": "id",
        "state": "state",
        "number": "expires_at",
        "title": "action",
        "app": "NULLIF(app, '')",
        "external_user_id": USER_NAME.format(table="agent_approvals"),
        "agent": "agent",
        "component_key": "action",
    },
    _log_entry,
    {
        "succeeded": (
            "state = 'used'",
            f"state = 'approved' AND expires_at > :now AND created_at > {_NOW} - {2 * WAITS}",
        ),
        "failed": (
            "state = 'refused'",
            "state = 'waiting' AND expires_at <= :now",
            "state = 'approved' AND expires_at <= :now",
        ),
        "waiting": (f"state = 'waiting' AND expires_at > :now AND created_at > {_NOW} - {WAITS}",),
    },
)
"""The calls that need consent, as the logs show them."""
