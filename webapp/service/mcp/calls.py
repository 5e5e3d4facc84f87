"""Calls of tools, and their results (contract "Agents").

A tool is an action of the catalog or one of our own. An error in it is a result that a model reads; only an unknown
tool is an error of the protocol. An action that needs the person's approval waits for it.

A missing account is connected in the middle of the call. A client that opens links shows the Connect Link to the
person: a modern one is told that input is required, and repeats the call with the person's answer; an older one is
asked on the stream of its call. Other clients get the link as text.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from webapp.errors import Invalid, PatchbayError
from webapp.kit.crypto import new_id
from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.tool_names import CONFIGURATION, OPTIONS, RUN, SEARCH, UPLOAD
from webapp.service.domain.accounts import accounts
from webapp.service.domain.agents import approvals, permissions
from webapp.service.domain.agents.approvals import Approval
from webapp.service.domain.agents.sessions import AgentSession
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import components, file_stash
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.components import OptionsQuery
from webapp.service.mcp import connect_links, protocol, results, tools
from webapp.service.mcp.arguments import DYNAMIC_PROPS_ID, Unconnected, as_request, input_schema
from webapp.service.mcp.authentication import Visitor
from webapp.service.mcp.clients import Client
from webapp.service.mcp.connect_links import Link
from webapp.service.mcp.event_streams import Line
from webapp.service.mcp.protocol import ProtocolError
from webapp.service.mcp.results import Result

NO_TOOL = "There is no such tool; look its name up in the list of tools."
AGENTS_PATH = "/agents"
WAIT_S = 45
"""How long a call waits for the person's yes; many clients give up after a minute."""
_ASKING = "Waiting for the person's yes."
_WAITS = (
    "This waits for the person's yes, which they give on the page {page} or in the product that they use. Tell them, "
    "and call the tool again with the same arguments once they have answered."
)
_REFUSED = "The person said no. Do not call this again unless they ask for it."
_NOT_ANSWERED = "The person did not answer in time. Ask them, and call the tool again with the same arguments."
QUESTION = "connect"
STATES = "mcp-states"  # the purpose for which the signing key is derived
ANSWER_S, CONNECT_S, ROUND_S = 300, 300, 20
ROUNDS = 8
"""How often a call asks for more time until the account is connected; clients give up after ten."""
_DECLINED = "The person does not want to connect an account now. Go on without it."
_CONNECTING = "Waiting for the account to be connected."
_NOT_CONTINUED = "This call cannot be continued. Start it again."
_NOT_CONNECTED = (
    "The account is not connected yet. Ask the person to open the link, and call the tool again afterwards."
)
MAX_PAGE_NUMBER = 1_000_000
FEW = 5
MOST_FOUND = 60
_NOTHING = "No tool does that. Try other words, such as the name of the app or of what is to be made."


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The call of a tool by the agent of ``session``, with the program ``client``, for ``visitor``.

    ``params`` are its parameters; ``line`` carries messages about its progress.
    """

    service: Service
    visitor: Visitor
    client: Client
    session: AgentSession
    line: Line
    name: str
    arguments: Mapping[str, Any]
    params: Mapping[str, Any]

    def action(self, name: str) -> ComponentInfo:
        """Return the action of the tool ``name``.

        Raises :class:`ProtocolError`, with the same message for a hidden action as for an unknown one.
        """
        component = tools.find(self.service, self.visitor, name)
        if component is None:
            raise ProtocolError(protocol.INVALID_PARAMS, NO_TOOL)
        return component

    def request(self, component: ComponentInfo, arguments: Mapping[str, Any]) -> ComponentRequest:
        """The request for ``component``. Raises :class:`Unconnected`, ``NotFound`` and ``Invalid``."""
        return as_request(self.service, self.visitor, self.session.name, component, arguments)

    def text(self, name: str) -> str:
        """The required text argument ``name``. Raises :class:`Invalid`."""
        value = self.arguments.get(name)
        if not isinstance(value, str) or not value.strip():
            raise Invalid.of(name, "It is missing; send it as text.")
        return value

    def number(self, name: str, default: int, *, least: int = 0, most: int) -> int:
        """The whole number ``name``, from ``least`` to ``most``. Raises :class:`Invalid`."""
        value = self.arguments.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Invalid.of(name, f"It must be a whole number from {least} to {most:,}.")
        return value

    def values(self, name: str) -> dict[str, Any]:
        """The object ``name``, empty by default. Raises :class:`Invalid`."""
        value = self.arguments.get(name)
        if not isinstance(value, dict | None):
            raise Invalid.of(name, "It must be an object.")
        return value or {}


def answer(call: ToolCall) -> Result:
    """Make ``call`` and return its result. Raises :class:`webapp.service.mcp.protocol.ProtocolError`."""
    try:
        return _dispatch_or_connect(call)
    except Invalid as error:
        return results.failure(_advice(error))
    except PatchbayError as error:
        return results.failure(error.message)


def _advice(error: Invalid) -> str:
    """The advice about ``error`` for a model, which sees no form."""
    if any(detail.field == DYNAMIC_PROPS_ID for detail in error.details):
        return f"Send these arguments to {CONFIGURATION} first, and then its {DYNAMIC_PROPS_ID} with them here."
    details = [f"{detail.field}: {detail.message}" for detail in error.details] if len(error.details) > 1 else []
    return " ".join([error.message, *details])


def _dispatch(call: ToolCall) -> Result:
    """Run the tool: one of our own, or else an action. Raises :class:`Unconnected` if it needs another account."""
    return _OURS.get(call.name, _run)(call)


def _dispatch_or_connect(call: ToolCall) -> Result:
    """Run the tool once the account that ``call`` needs is connected, or else return how to connect it."""
    if (state := call.params.get("requestState")) is not None:
        return _resume(call, state)
    try:
        return _dispatch(call)
    except Unconnected as missing:
        link = connect_links.link(call.service, call.visitor, missing)
        if isinstance(link, str):
            return results.failure(link)
        if call.client.opens_links and call.client.is_modern:
            return _require_input(call, missing.app, 0, link)
        if call.client.opens_links and call.line.streams:
            return _ask_on_stream(call, missing.app, link)
        return results.failure(link.text)


def _ask_on_stream(call: ToolCall, app: str, link: Link) -> Result:
    """Ask the person on the stream of the call, and continue when the account is connected."""
    answer = call.line.ask({**_question(link), "elicitationId": new_id("eli")}, ANSWER_S)
    if answer in ("decline", "cancel"):
        return results.failure(_DECLINED)
    if answer == "accept" and _wait_for_account(call, app, CONNECT_S):
        return _dispatch_or_link(call)
    return results.failure(link.text)


def _require_input(call: ToolCall, app: str, rounds: int, link: Link | None = None) -> Result:
    """A result that requires the person's answer or, without a ``link``, more time."""
    state = _signer(call.service).dumps([call.visitor.external_id, call.name, app, rounds])
    question = {"method": "elicitation/create", "params": _question(link)} if link else None
    questions = {"inputRequests": {QUESTION: question}} if question else {}
    return {"resultType": "input_required", **questions, "requestState": state}


def _resume(call: ToolCall, state: Any) -> Result:
    """Resume a call whose client got the required input. Raises :class:`Invalid` for a state of another call."""
    try:
        user, tool, app, rounds = _signer(call.service).loads(state)
    except (BadData, ValueError, TypeError) as error:
        raise Invalid(_NOT_CONTINUED) from error
    if (user, tool) != (call.visitor.external_id, call.name):
        raise Invalid(_NOT_CONTINUED)
    answers = call.params.get("inputResponses") or {}
    if rounds == 0 and answers.get(QUESTION, {}).get("action") != "accept":
        return results.failure(_DECLINED)
    if _wait_for_account(call, app, ROUND_S):
        return _dispatch_or_link(call)
    return _require_input(call, app, rounds + 1) if rounds < ROUNDS else results.failure(_NOT_CONNECTED)


def _dispatch_or_link(call: ToolCall) -> Result:
    """Run the tool; if a second account is missing, return its link as text."""
    try:
        return _dispatch(call)
    except Unconnected as missing:
        link = connect_links.link(call.service, call.visitor, missing)
        return results.failure(link if isinstance(link, str) else link.text)


def _wait_for_account(call: ToolCall, app: str, seconds: float) -> bool:
    """Wait until an account of ``app`` is connected, and return False if none is within ``seconds``."""
    call.line.report(_CONNECTING)
    return call.line.wait(lambda: _is_connected(call, app) or None, seconds) is not None


def _is_connected(call: ToolCall, app: str) -> bool:
    user = call.visitor.user(call.service)
    of_user = accounts.of_user(call.service.store, user) if user else ()
    return any(account.app == app and not account.dead for account in of_user)


def _question(link: Link) -> dict[str, Any]:
    return {"mode": "url", "message": f"{link.sentence} Open this page to connect it.", "url": link.url}


def _signer(service: Service) -> URLSafeSerializer:
    return URLSafeSerializer(service.keys.derive(STATES), salt="mcp")


def _run(call: ToolCall) -> Result:
    component = call.action(call.name)
    request = call.request(component, call.arguments)
    level = permissions.level(call.service, call.visitor.scene, call.visitor.external_id, component)
    if level == "ask" and (refusal := _wait_for_approval(call, request)):
        return results.failure(refusal)
    outcome = components.run(call.service, request)
    if (advice := connect_links.after_refusal(call.service, call.visitor, request, outcome)) is not None:
        return results.failure(advice)
    return results.of_run(call.service, call.visitor, call.name, outcome)


def _run_by_name(call: ToolCall) -> Result:
    """Run the tool that an argument names."""
    return _run(replace(call, name=call.text("tool"), arguments=call.values("arguments")))


def _wait_for_approval(call: ToolCall, request: ComponentRequest) -> str | None:
    """Ask the person to approve ``request``, wait for the answer if the call streams, and use the approval up.

    Returns None if ``request`` may run now, once; otherwise why not, as the agent reads it. Raises like
    :func:`webapp.service.domain.agents.approvals.ask`.
    """
    service = call.service
    approval = approvals.ask(service, replace(request, stash_id=None), call.session)
    if approval.state == "waiting" and call.line.streams:
        call.line.report(_ASKING)
        approval = call.line.wait(partial(_look_for_answer, service, approval), WAIT_S) or approval
    if approval.state == "approved" and approvals.claim(service, approval):
        return None
    if approval.state == "waiting":
        page = f"{service.settings.public_url}{AGENTS_PATH}"
        return _WAITS.format(page=page)
    return _REFUSED if approval.state == "refused" else _NOT_ANSWERED


def _look_for_answer(service: Service, approval: Approval) -> Approval | None:
    """``approval`` if it is answered, otherwise None."""
    current = approvals.current(service, service.store, approval)
    return None if current.state == "waiting" else current


def options(call: ToolCall) -> Result:
    """The values that one argument of a tool can have (contract "Configure").

    Raises what :meth:`ToolCall.request` does.
    """
    component = call.action(call.text("tool"))
    name = call.text("prop")
    prop = component.prop_aliases.get(name) or name
    query = OptionsQuery(
        prop, call.number("page", 0, most=MAX_PAGE_NUMBER), _words(call.arguments.get("query")), call.values("context")
    )
    answer = components.configure(call.service, call.request(component, call.values("arguments")), query)
    if answer["errors"]:
        return results.failure(" ".join(answer["errors"]))
    choices = answer["options"] or [{"label": text, "value": text} for text in answer["stringOptions"] or ()]
    context = {"context": answer["context"]} if answer["context"] else {}
    return results.data({"options": choices, **context}, *_notes(answer))


def configuration(call: ToolCall) -> Result:
    """The arguments that follow from the values so far (contract "Reload").

    Raises what :meth:`ToolCall.request` does.
    """
    component = call.action(call.text("tool"))
    request = call.request(component, call.values("arguments"))
    answer = components.reload(call.service, request)
    if answer["dynamicProps"] is None:
        return results.failure(" ".join(answer["errors"]) or "The further arguments cannot be told now. Try again.")
    props = answer["dynamicProps"]["configurableProps"]
    schema = input_schema(props, reloads=True)
    return results.data(
        {DYNAMIC_PROPS_ID: answer["dynamicProps"]["id"], "inputSchema": schema},
        *answer["errors"],
        *_notes(answer),
    )


def upload(call: ToolCall) -> Result:
    """The address to which a file is uploaded, and the value by which tools take it. Raises :class:`Invalid`."""
    visitor = call.visitor
    announced = file_stash.announce(visitor.scene, visitor.external_id, call.text("name"))
    address = file_stash.upload_link(call.service, announced)
    return results.data(
        {"file": announced.id, "name": announced.name, "upload_url": address, "method": "POST"},
        f"Send the content as the body: curl --data-binary @FILE -H 'Content-Type: application/octet-stream' {address}",
        f"Then give {announced.id} to the tool as its file.",
    )


def _words(query: Any) -> str | None:
    return query if isinstance(query, str) and query else None


def _notes(answer: dict[str, Any]) -> list[str]:
    return [f"Note: {warning['message']}" for warning in answer.get("warnings", ())]


def search(call: ToolCall) -> Result:
    """The tools that do what the query asks for, the likeliest first, as :mod:`webapp.service.catalog.tool_search`
    finds them. Raises :class:`webapp.errors.Invalid`.
    """
    query, most = call.text("query"), call.number("limit", FEW, least=1, most=tools.MAX_HITS)
    box = tools.toolbox(call.service, call.visitor)
    keys = call.service.catalog.find_actions(
        query,
        connected={account.app for account in box.accounts},
        only=call.visitor.apps,
        without=box.hidden_apps,
        limit=MOST_FOUND,
    )
    shown = [key for key in keys if box.has(key)][:most]
    drawn = tools.fitting(tool for key in shown if (tool := tools.drawn(call.service, box, key)))
    if not drawn:
        return results.text(_NOTHING)
    return results.data({"tools": drawn})


_OURS: Mapping[str, Callable[[ToolCall], Result]] = {
    OPTIONS: options,
    CONFIGURATION: configuration,
    SEARCH: search,
    RUN: _run_by_name,
    UPLOAD: upload,
}
