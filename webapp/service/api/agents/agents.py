"""What agents may do for a user, and which came in (contract "Agents")."""

from typing import Annotated

from flask import Response
from pydantic import Field

from webapp.errors import Invalid
from webapp.service.api.agents import models
from webapp.service.api.agents.models import LEVEL, Level, Owned, external_id_of, refuse_agents, user_of
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.models import Body, Data, ExternalUserId
from webapp.service.api.base.operations import OWNER, Example, Group, Operations, PathParameter
from webapp.service.domain.agents import ending, overview, permissions, sessions
from webapp.service.domain.base import scopes
from webapp.service.domain.components import requests

AGENTS = Group("Agents", "Assistants that act for a user by `/mcp`: what they may do, and what waits for a yes.")
READ, WRITE = (scopes.AGENTS_READ,), (scopes.AGENTS_WRITE,)
ABSENT = "There is no such agent."
operations = Operations(AGENTS, PathParameter("agent_id", "The agent's id.", "$AGENT_ID"), extension=True)


class ActionList(Owned):
    """Which app's actions."""

    app: str = Field("", description="The app's slug or id; without one, the actions that belong to no app.")


class Permission(Body):
    """A level for one action, or for all of an app."""

    external_user_id: ExternalUserId
    app: str | None = Field(
        None, description="The app's slug or id: all of its actions. Empty: all that belong to no app."
    )
    component_id: str | None = Field(None, description="The action's key or id.")
    level: Annotated[Level | None, Field(description=f"{LEVEL} null: each of the app's actions as it begins.")] = None


@operations.get(
    "P/agents/apps", answer=Data[list[models.AgentApp]], scopes=READ, query=Owned, example=Example(query=OWNER)
)
def list_agent_apps(call: Call) -> Response:
    """The user's apps, with how many actions agents may use; those that belong to no app last, under an empty name."""
    external_id = external_id_of(call, call.query(Owned).external_user_id)
    return answer({"data": [app.to_json() for app in overview.apps(call.service, call.scene, external_id)]})


@operations.get(
    "P/agents/actions",
    answer=Data[list[models.AgentAction]],
    scopes=READ,
    query=ActionList,
    example=Example(query={**OWNER, "app": "sandbox"}),
)
def list_agent_actions(call: Call) -> Response:
    """The actions of an app, each with what agents may do with it."""
    query = call.query(ActionList)
    external_id = external_id_of(call, query.external_user_id)
    actions = overview.actions(call.service, call.scene, external_id, _slug(call, query.app))
    return answer({"data": [action.to_json() for action in actions]})


@operations.put(
    "P/agents/permissions",
    scopes=WRITE,
    body=Permission,
    example=Example(body={**OWNER, "component_id": "sandbox-create-task", "level": "ask"}),
)
def set_agent_permission(call: Call) -> Response:
    """Choose what agents may do with an action, or with all of an app."""
    body = call.body(Permission)
    external_id = external_id_of(call, body.external_user_id)
    refuse_agents(call)
    if (body.app is None) == (body.component_id is None):
        raise Invalid.of("app", "Send either app or component_id.")
    if body.app is not None:
        permissions.set_app(call.service, call.scene, external_id, _slug(call, body.app), body.level)
    else:
        component = requests.find(call.service, body.component_id or "", None, "action")
        permissions.set_action(call.service, call.scene, external_id, component, body.level or "")
    return no_content()


@operations.get(
    "P/agents/sessions", answer=Data[list[models.Agent]], scopes=READ, query=Owned, example=Example(query=OWNER)
)
def list_agents(call: Call) -> Response:
    """The agents that came in for the user, the one that was used last first."""
    external_id = external_id_of(call, call.query(Owned).external_user_id)
    return answer({"data": [each.to_json() for each in sessions.of_user(call.store, call.scene, external_id)]})


@operations.delete("P/agents/sessions/<agent_id>", scopes=WRITE, query=Owned, example=Example(query=OWNER))
def end_agent(call: Call) -> Response:
    """End an agent's access."""
    user = user_of(call, call.query(Owned).external_user_id, ABSENT)
    ending.end(call.service, user, call.path["agent_id"])
    return no_content()


@operations.post(
    "P/agents/sessions/<agent_id>/let_in",
    answer=Data[models.Agent],
    scopes=WRITE,
    query=Owned,
    example=Example(query=OWNER),
)
def let_agent_in(call: Call) -> Response:
    """Let an agent in again whose access was ended."""
    user = user_of(call, call.query(Owned).external_user_id, ABSENT)
    refuse_agents(call)
    return answer({"data": sessions.let_in(call.service, user, call.path["agent_id"]).to_json()})


def _slug(call: Call, app: str) -> str:
    """The slug of ``app``. Raises :class:`webapp.errors.NotFound`."""
    return call.service.app(app).slug if app else overview.NO_APP
