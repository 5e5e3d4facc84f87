"""What a call of a tool answers: an action of the catalog, or one of our own tools (contract "Agents").

What goes wrong in it is an answer that a model reads. Only a tool that is not there is an error of the protocol.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from webapp.errors import Invalid, PatchbayError
from webapp.service.components.tool_names import CONFIGURATION, OPTIONS, RUN, SEARCH
from webapp.service.domain.agents import permissions
from webapp.service.domain.components import components
from webapp.service.mcp import approving, connecting, linking, lookups, results, searching
from webapp.service.mcp.calls import ToolCall
from webapp.service.mcp.results import Result
from webapp.service.mcp.schemas import DYNAMIC_PROPS_ID


def answer(call: ToolCall) -> Result:
    """Do what ``call`` wants. Raises :class:`webapp.service.mcp.protocol.ProtocolError`."""
    try:
        return connecting.connected(call, lambda call: _OURS.get(call.name, _run)(call))
    except Invalid as error:
        return results.failure(_advice(error))
    except PatchbayError as error:
        return results.failure(error.message)


def _advice(error: Invalid) -> str:
    """What to do about ``error``, in words for a model that sees no form."""
    if any(detail.field == DYNAMIC_PROPS_ID for detail in error.details):
        return f"Send these arguments to {CONFIGURATION} first, and then its {DYNAMIC_PROPS_ID} with them here."
    told = [f"{detail.field}: {detail.message}" for detail in error.details] if len(error.details) > 1 else []
    return " ".join([error.message, *told])


def _run(call: ToolCall) -> Result:
    component = call.action(call.name)
    request = call.request(component, call.arguments)
    level = permissions.level(call.service, call.visitor.scene, call.visitor.external_id, component)
    if level == "ask" and (refusal := approving.refusal(call, request)):
        return results.failure(refusal)
    outcome = components.run(call.service, request)
    if (advice := linking.after_refusal(call.service, call.visitor, request, outcome)) is not None:
        return results.failure(advice)
    return results.of_run(call.service, call.visitor, call.name, outcome)


def _run_by_name(call: ToolCall) -> Result:
    """Run the tool that an argument names."""
    return _run(replace(call, name=call.text("tool"), arguments=call.values("arguments")))


_OURS: Mapping[str, Callable[[ToolCall], Result]] = {
    OPTIONS: lookups.options,
    CONFIGURATION: lookups.configuration,
    SEARCH: searching.search,
    RUN: _run_by_name,
}
