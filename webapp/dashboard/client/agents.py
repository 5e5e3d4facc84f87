"""The agents of one external user (contract "Agents"), an extension: ``None`` if the service does not have it."""

from typing import Any, Unpack

from webapp.dashboard.client.connect import Call, UserCalls
from webapp.dashboard.client.models.agents import Agent, AgentAction, AgentApp, Approval, Level
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.models.runs import Run
from webapp.dashboard.client.transport import Params


class AgentClient(UserCalls):
    """Reads and changes the permissions, agents, approvals and runs of one external user."""

    def call(self, method: str, path: str, **call: Unpack[Call]) -> Any:
        """A call with the external user's id in addition to the token."""
        call["params"] = {"external_user_id": self.user_id, **call.get("params", {})}
        return super().call(method, path, **call)

    def apps(self) -> PageOf[AgentApp] | None:
        """``GET P/agents/apps``."""
        return self.ask_extension(PageOf[AgentApp], "GET", self._path("apps"))

    def actions(self, app: str) -> tuple[AgentAction, ...]:
        """``GET P/agents/actions``. Raises :class:`webapp.errors.NotFound` for an unknown app."""
        return self.ask(PageOf[AgentAction], "GET", self._path("actions"), params={"app": app}).items

    def permit(self, level: Level | None, *, app: str = "", action: str = "") -> None:
        """``PUT P/agents/permissions``, for an action or all of an app. Raises :class:`webapp.errors.NotFound`."""
        chosen = {"component_id": action} if action else {"app": app}
        body = {"external_user_id": self.user_id, "level": level, **chosen}
        super().call("PUT", self._path("permissions"), body=body)

    def agents(self) -> tuple[Agent, ...]:
        """``GET P/agents/sessions``."""
        return self.ask(PageOf[Agent], "GET", self._path("sessions")).items

    def end(self, agent_id: str) -> None:
        """``DELETE P/agents/sessions/{id}``. Raises :class:`webapp.errors.NotFound`."""
        self.call("DELETE", self._path("sessions", agent_id))

    def let_in(self, agent_id: str) -> None:
        """``POST P/agents/sessions/{id}/let_in``. Raises :class:`webapp.errors.NotFound`."""
        self.call("POST", self._path("sessions", agent_id, "let_in"))

    def approvals(self) -> tuple[Approval, ...]:
        """``GET P/agents/approvals``: the waiting ones, then those that were answered or expired."""
        return self.ask(PageOf[Approval], "GET", self._path("approvals")).items

    def decide(self, approval_id: str, *, yes: bool) -> Approval:
        """``POST P/agents/approvals/{id}/approve`` or ``/refuse``.

        Raises :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Conflict` if it is not waiting any more.
        """
        return self.ask(Approval, "POST", self._path("approvals", approval_id, "approve" if yes else "refuse"))

    def runs(self, *, limit: int, after: str = "") -> PageOf[Run]:
        """``GET P/runs``: what agents ran, newest first."""
        params: Params = {"by_agents": True, "limit": limit, "after": after}
        return self.ask(PageOf[Run], "GET", self.client.path("runs"), params=params)

    def _path(self, *parts: str) -> str:
        return self.client.path("agents", *parts)
