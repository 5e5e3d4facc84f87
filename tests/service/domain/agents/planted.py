"""An agent of a user, and a call of it that waits for a yes, put into a service without an agent."""

from dataclasses import replace
from typing import Any

from webapp.kit.crypto import new_id
from webapp.service.domain.agents import approvals, sessions
from webapp.service.domain.agents.approvals import Approval
from webapp.service.domain.agents.sessions import AgentSession, Entry
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene


def plant_agent(service: Service, scene: Scene, user: str, name: str = "Desk Helper") -> AgentSession:
    """The agent, which came in by a product's OAuth access token."""
    return sessions.enter(_unlimited(service), scene, user, Entry("client", "oa_1"), name)


def plant_approval(
    service: Service, scene: Scene, agent: AgentSession, action: str = "sandbox-delete-task", **values: object
) -> Approval:
    """A call of ``agent`` that waits."""
    now = service.clock()
    component = service.catalog.component(action)
    approval = Approval(
        id=new_id("apr"),
        scene=scene,
        external_user_id=agent.external_user_id,
        session_id=agent.id,
        agent=agent.name,
        token_hash=agent.token_hash,
        app=component.app or "" if component else "",
        action=action,
        version=component.version if component else "0.0.1",
        digest=new_id("digest"),
        state="waiting",
        created_at=now,
        expires_at=now + approvals.WAITS,
    )
    with service.store.write() as tx:
        approvals.add(_unlimited(service), tx, approval, {"configured_props": values, "masked_props": []})
    return approval


def _unlimited(service: Service) -> Service:
    """The service for tests that share it and put many into it."""
    quotas: Any = {**service.settings.quotas, "USER_AGENTS": 1_000_000, "USER_APPROVALS": 1_000_000}
    return replace(service, settings=replace(service.settings, quotas=quotas))
