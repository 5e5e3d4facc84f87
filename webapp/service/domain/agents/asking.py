"""Asking a person whether an agent's call may run, and waiting for the answer, whichever process gets it."""

import json
import time
from collections.abc import Callable
from typing import Any

from webapp.kit.crypto import new_id
from webapp.service.domain.agents import approvals
from webapp.service.domain.agents.approvals import Approval
from webapp.service.domain.agents.sessions import AgentSession
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants, prop_values, requests
from webapp.service.domain.components.prop_values import Values
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.domain.projects import external_users

LOOK_EVERY_S = 0.5


def ask(service: Service, request: ComponentRequest, session: AgentSession) -> Approval:
    """Ask the person for the call ``request`` of the agent ``session``; nobody is asked for what could not run.

    The same call is asked for once: its state is ``waiting``, or what the person answered. Raises
    :class:`webapp.errors.Invalid`, :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Forbidden` where too many
    wait.
    """
    props = requests.props_to_fill(service, request)
    values = prop_values.checked(props, request.configured, whole=True)
    grants.find_accounts(service, request.scene, request.external_id, props, values.accounts)
    kept, masked = prop_values.without_secrets(props, _shown(values))
    now, digest = service.clock(), _digest(service, request)
    with service.store.write() as tx:
        user = external_users.ensure(tx, request.scene, request.external_id, now)
        earlier = approvals.same_call(tx, user, session.id, digest, now)
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
            expires_at=now + approvals.WAITS,
        )
        approvals.add(service, tx, approval, {"configured_props": kept, "masked_props": masked})
    return approval


def wait(service: Service, approval: Approval, seconds: float, stopped: Callable[[], bool] = lambda: False) -> Approval:
    """``approval`` once it is answered, or after ``seconds``, or when ``stopped``. No transaction is open meanwhile."""
    end = time.monotonic() + seconds
    while approval.state == "waiting" and time.monotonic() < end and not stopped():
        time.sleep(min(LOOK_EVERY_S, max(0.0, end - time.monotonic())))
        approval = approvals.current(service, service.store, approval)
    return approval


def claim(service: Service, approval: Approval) -> bool:
    """Use a yes up: whether the call may run now. It is true once for each yes."""
    with service.store.write() as tx:
        return approvals.use(service, tx, approval)


def _shown(values: Values) -> dict[str, Any]:
    """What the call would run with, and nothing else: not a label or a name that the agent made up."""
    accounts = {name: {"authProvisionId": account_id} for name, account_id in values.accounts.items()}
    return {**accounts, **values.props}


def _digest(service: Service, request: ComponentRequest) -> str:
    """What two calls that are the same have in common."""
    names = [request.component.key, request.component.version, request.dynamic_props_id, request.stash_id]
    return service.keys.keyed_hash("agent-approvals", json.dumps([names, dict(request.configured)], sort_keys=True))
