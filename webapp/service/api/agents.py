"""The permissions of a user's agents, the agents that signed in, and their calls that wait for approval (contract
"Agents").

The person approves, signed in to the dashboard or in a portal, or a server for them. A Connect token that an agent has
used cannot approve.
"""

from typing import Annotated, Any, ClassVar, Literal

from flask import Response
from pydantic import Field

from webapp.errors import Detail, Forbidden, Invalid, NotFound
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.models import Answer, Body, Data, DateTime, ExternalUserId, Query
from webapp.service.api.base.operations import OWNER, Example, Group, Operations, PathParameter
from webapp.service.domain.agents import approvals, permissions, sessions
from webapp.service.domain.base import token_scopes
from webapp.service.domain.components import component_requests
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser

AGENTS = Group("Agents", "Assistants that act for a user by `/mcp`: what they may do, and what waits for a yes.")
READ, WRITE = (token_scopes.AGENTS_READ,), (token_scopes.AGENTS_WRITE,)
ABSENT = "There is no such agent."
operations = Operations(
    AGENTS,
    PathParameter("agent_id", "The agent's id.", "$AGENT_ID"),
    PathParameter("approval_id", "The call's id.", "$APPROVAL_ID"),
    extension=True,
)
Level = Literal["off", "ask", "on"]
LEVEL = "`off`: agents do not see it. `ask`: each call waits for the person's yes. `on`: agents just do it."


class Owned(Query):
    """The user of the agents; a Connect token contains it."""

    owner: ClassVar[str | None] = "external_user_id"
    external_user_id: ExternalUserId | None = None


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


class Counts(Answer):
    """The number of actions with each level."""

    off: int
    ask: int
    on: int


class AgentApp(Answer):
    """An app that agents may work with."""

    app: str = Field(examples=["github"])
    name: str = Field(examples=["GitHub"])
    level: Level | None = Field(examples=[None], description="What was chosen for the whole app, if anything was.")
    counts: Counts


class AgentAction(Answer):
    """An action of an app."""

    key: str = Field(examples=["github-create-issue"])
    name: str = Field(examples=["Create issue"])
    description: str = Field(examples=[""])
    level: Level = Field(description=LEVEL)
    reads: bool = Field(description="Whether it changes nothing.")
    destroys: bool = Field(description="Whether it may delete or overwrite something.")


class Agent(Answer):
    """An agent that signed in for the user."""

    id: str = Field(examples=["ags_5Tn2Qb"])
    name: str = Field(examples=["Desk Helper"])
    kind: Literal["person", "token", "client"] = Field(
        description="How it connected: by the person's sign-in, a Connect token or an OAuth access token."
    )
    created_at: DateTime
    used_at: DateTime
    ended_at: DateTime | None = Field(examples=[None], description="When the person ended its access.")


class Approval(Answer):
    """A call of an agent that waits for the person's yes, or waited."""

    id: str = Field(examples=["apr_9Kd3Ws"])
    agent: str = Field(examples=["Desk Helper"], description="What the agent calls itself.")
    session_id: str = Field(examples=["ags_5Tn2Qb"])
    app: str | None = Field(examples=["github"])
    component_key: str = Field(examples=["github-create-issue"])
    component_version: str = Field(examples=["0.0.1"])
    state: Literal["waiting", "approved", "refused", "used", "expired"] = Field(
        description="`used`: it was approved, and has run since. `expired`: nobody answered or used it in time."
    )
    created_at: DateTime
    expires_at: DateTime
    decided_at: DateTime | None = Field(examples=[None])
    configured_props: dict[str, Any] = Field(description="The values of the call, but for secrets.")
    masked_props: list[str] = Field(description="The props whose values are kept back.")


@operations.get("P/agents/apps", answer=Data[list[AgentApp]], scopes=READ, query=Owned, example=Example(query=OWNER))
def list_agent_apps(call: Call) -> Response:
    """The user's apps, with how many actions agents may use; those that belong to no app last, under an empty name."""
    external_id = _external_id_of(call, call.query(Owned).external_user_id)
    return answer({"data": [app.to_json() for app in permissions.apps(call.service, call.scene, external_id)]})


@operations.get(
    "P/agents/actions",
    answer=Data[list[AgentAction]],
    scopes=READ,
    query=ActionList,
    example=Example(query={**OWNER, "app": "sandbox"}),
)
def list_agent_actions(call: Call) -> Response:
    """The actions of an app, each with what agents may do with it."""
    query = call.query(ActionList)
    external_id = _external_id_of(call, query.external_user_id)
    actions = permissions.actions(call.service, call.scene, external_id, _slug(call, query.app))
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
    external_id = _external_id_of(call, body.external_user_id)
    _refuse_agents(call)
    if (body.app is None) == (body.component_id is None):
        raise Invalid.of("app", "Send either app or component_id.")
    if body.app is not None:
        permissions.set_app(call.service, call.scene, external_id, _slug(call, body.app), body.level)
    else:
        component = component_requests.find(call.service, body.component_id or "", None, "action")
        permissions.set_action(call.service, call.scene, external_id, component, body.level or "")
    return no_content()


@operations.get("P/agents/sessions", answer=Data[list[Agent]], scopes=READ, query=Owned, example=Example(query=OWNER))
def list_agents(call: Call) -> Response:
    """List the agents that signed in for the user, the last used first."""
    external_id = _external_id_of(call, call.query(Owned).external_user_id)
    return answer({"data": [each.to_json() for each in sessions.of_user(call.store, call.scene, external_id)]})


@operations.delete("P/agents/sessions/<agent_id>", scopes=WRITE, query=Owned, example=Example(query=OWNER))
def end_agent(call: Call) -> Response:
    """End an agent's access."""
    user = _user_of(call, call.query(Owned).external_user_id, ABSENT)
    approvals.end_session(call.service, user, call.path["agent_id"])
    return no_content()


@operations.post(
    "P/agents/sessions/<agent_id>/let_in",
    answer=Data[Agent],
    scopes=WRITE,
    query=Owned,
    example=Example(query=OWNER),
)
def let_agent_in(call: Call) -> Response:
    """Let an agent in again whose access was ended."""
    user = _user_of(call, call.query(Owned).external_user_id, ABSENT)
    _refuse_agents(call)
    return answer({"data": sessions.let_in(call.service, user, call.path["agent_id"]).to_json()})


def _slug(call: Call, app: str) -> str:
    """The slug of ``app``. Raises :class:`webapp.errors.NotFound`."""
    return call.service.app(app).slug if app else permissions.NO_APP


def _external_id_of(call: Call, named: str | None) -> str:
    """The named user. Raises :class:`Invalid` if none is named."""
    external_id = call.caller.user_filter(named)
    if external_id is None:
        message = "Name the user whose agents these are."
        raise Invalid(f"external_user_id is missing: {message}", [Detail("external_user_id", message)])
    return external_id


def _user_of(call: Call, named: str | None, absent: str) -> ExternalUser:
    """The named user as a record. Raises :class:`NotFound` with the sentence ``absent``."""
    external_id = _external_id_of(call, named)
    user = call.user or external_users.find(call.store, call.scene, external_id)
    if user is None:
        raise NotFound(absent)
    return user


def _refuse_agents(call: Call) -> str:
    """Return the hash of the caller's Connect token, if any.

    Raises :class:`Forbidden` if an agent has used the token.
    """
    token_hash = call.caller.connect.token_hash if call.caller.connect else ""
    if token_hash and sessions.is_bearer_of_agent(call.store, token_hash):
        raise Forbidden(approvals.OWN_CALL)
    return token_hash


@operations.get(
    "P/agents/approvals", answer=Data[list[Approval]], scopes=READ, query=Owned, example=Example(query=OWNER)
)
def list_agent_approvals(call: Call) -> Response:
    """The calls that wait for the user's yes, and up to a hundred that were answered or expired, newest first."""
    external_id = _external_id_of(call, call.query(Owned).external_user_id)
    listed = approvals.recent(call.service, call.scene, external_id)
    return answer({"data": [_shown(call, approval) for approval in listed]})


@operations.post(
    "P/agents/approvals/<approval_id>/approve",
    answer=Data[Approval],
    scopes=WRITE,
    query=Owned,
    errors=(409,),
    example=Example(query=OWNER),
)
def approve_agent_call(call: Call) -> Response:
    """Let the call run, once, within ten minutes."""
    return _decide(call, yes=True)


@operations.post(
    "P/agents/approvals/<approval_id>/refuse",
    answer=Data[Approval],
    scopes=WRITE,
    query=Owned,
    errors=(409,),
    example=Example(path={"approval_id": "$OTHER_APPROVAL_ID"}, query=OWNER),
)
def refuse_agent_call(call: Call) -> Response:
    """Refuse the call; the same one is refused for ten minutes."""
    return _decide(call, yes=False)


def _decide(call: Call, *, yes: bool) -> Response:
    user = _user_of(call, call.query(Owned).external_user_id, approvals.ABSENT)
    token_hash = _refuse_agents(call)
    approval = approvals.decide(call.service, user, call.path["approval_id"], yes=yes, token_hash=token_hash)
    return answer({"data": _shown(call, approval)})


def _shown(call: Call, approval: approvals.Approval) -> dict[str, object]:
    return {**approval.to_json(), **approvals.inputs(call.service, approval)}
