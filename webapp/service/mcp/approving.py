"""Actions that wait for the person's yes before they run."""

from dataclasses import replace
from functools import partial

from webapp.service.domain.agents import approvals, asking
from webapp.service.domain.agents.approvals import Approval
from webapp.service.domain.base.service import Service
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.mcp.calls import ToolCall

PAGE = "/agents"
WAIT_S = 45
"""Many clients give up after a minute."""
_ASKING = "Waiting for the person's yes."
_WAITS = (
    "This waits for the person's yes, which they give on the page {page} or in the product that they use. Tell them, "
    "and call the tool again with the same arguments once they have answered."
)
_REFUSED = "The person said no. Do not call this again unless they ask for it."
_LATE = "The person did not answer in time. Ask them, and call the tool again with the same arguments."


def refusal(call: ToolCall, request: ComponentRequest) -> str | None:
    """Why ``request`` must not run now, for the agent that asks; None once the person has said yes to it.

    Raises what :func:`webapp.service.domain.agents.asking.ask` does.
    """
    service = call.service
    approval = asking.ask(service, replace(request, stash_id=None), call.session)
    if approval.state == "waiting" and call.line.streams:
        call.line.words = _ASKING
        approval = call.line.wait(partial(_answered, service, approval), WAIT_S) or approval
    if approval.state == "approved" and asking.claim(service, approval):
        return None
    if approval.state == "waiting":
        page = f"{service.settings.public_url}{PAGE}"
        return _WAITS.format(page=page)
    return _REFUSED if approval.state == "refused" else _LATE


def _answered(service: Service, approval: Approval) -> Approval | None:
    """``approval`` once it is answered."""
    current = approvals.current(service, service.store, approval)
    return None if current.state == "waiting" else current
