"""Calls of agents that wait for a person's yes (contract "Agents").

The person answers, signed in to the dashboard or in a portal, or a server for them. A Connect token that an agent has
sent answers nothing.
"""

from flask import Response

from webapp.service.api.agents import models
from webapp.service.api.agents.agents import AGENTS, READ, WRITE
from webapp.service.api.agents.models import Owned, external_id_of, refuse_agents, user_of
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Data
from webapp.service.api.base.operations import OWNER, Example, Operations, PathParameter
from webapp.service.domain.agents import approvals
from webapp.service.domain.agents.approvals import ABSENT, Approval

operations = Operations(AGENTS, PathParameter("approval_id", "The call's id.", "$APPROVAL_ID"), extension=True)


@operations.get(
    "P/agents/approvals", answer=Data[list[models.Approval]], scopes=READ, query=Owned, example=Example(query=OWNER)
)
def list_agent_approvals(call: Call) -> Response:
    """The calls that wait for the user's yes, and up to a hundred that were answered or expired, newest first."""
    external_id = external_id_of(call, call.query(Owned).external_user_id)
    listed = approvals.recent(call.service, call.scene, external_id)
    return answer({"data": [_shown(call, approval) for approval in listed]})


@operations.post(
    "P/agents/approvals/<approval_id>/approve",
    answer=Data[models.Approval],
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
    answer=Data[models.Approval],
    scopes=WRITE,
    query=Owned,
    errors=(409,),
    example=Example(path={"approval_id": "$OTHER_APPROVAL_ID"}, query=OWNER),
)
def refuse_agent_call(call: Call) -> Response:
    """Refuse the call; the same one is refused for ten minutes."""
    return _decide(call, yes=False)


def _decide(call: Call, *, yes: bool) -> Response:
    user = user_of(call, call.query(Owned).external_user_id, ABSENT)
    token_hash = refuse_agents(call)
    approval = approvals.decide(call.service, user, call.path["approval_id"], yes=yes, token_hash=token_hash)
    return answer({"data": _shown(call, approval)})


def _shown(call: Call, approval: Approval) -> dict[str, object]:
    return {**approval.to_json(), **approvals.inputs(call.service, approval)}
