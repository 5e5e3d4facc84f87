"""What the API takes and answers about agents."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from webapp.errors import Detail, Forbidden, Invalid, NotFound
from webapp.service.api.base.call import Call
from webapp.service.api.base.models import Answer, DateTime, ExternalUserId, Query
from webapp.service.domain.agents import approvals, bearers
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser

Level = Literal["off", "ask", "on"]
LEVEL = "`off`: agents do not see it. `ask`: each call waits for the person's yes. `on`: agents just do it."


class Owned(Query):
    """Whose agents they are; a Connect token says so by itself."""

    owner: ClassVar[str | None] = "external_user_id"
    external_user_id: ExternalUserId | None = None


class Counts(Answer):
    """How many actions have each level."""

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
    """An agent that came in for the user."""

    id: str = Field(examples=["ags_5Tn2Qb"])
    name: str = Field(examples=["Desk Helper"])
    kind: Literal["person", "token", "client"] = Field(
        description="How it came in: by the person's sign-in, a Connect token or an OAuth access token."
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


def external_id_of(call: Call, named: str | None) -> str:
    """The named user. Raises :class:`Invalid` where nobody is named."""
    external_id = call.caller.user_filter(named)
    if external_id is None:
        message = "Name the user whose agents these are."
        raise Invalid(f"external_user_id is missing: {message}", [Detail("external_user_id", message)])
    return external_id


def user_of(call: Call, named: str | None, absent: str) -> ExternalUser:
    """The same as a user who is there. Raises :class:`NotFound` in the words ``absent``."""
    external_id = external_id_of(call, named)
    user = call.user or external_users.find(call.store, call.scene, external_id)
    if user is None:
        raise NotFound(absent)
    return user


def refuse_agents(call: Call) -> str:
    """Raise :class:`Forbidden` for a Connect token that an agent uses: a person decides. The token's hash, if any."""
    token_hash = call.caller.connect.token_hash if call.caller.connect else ""
    if token_hash and bearers.is_agents(call.store, token_hash):
        raise Forbidden(approvals.OWN_CALL)
    return token_hash
