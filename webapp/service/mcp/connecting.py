"""Connecting an account in the middle of a call, and going on with the call afterwards.

A client that opens links shows the Connect Link to the person: a modern one is told that input is required, and sends
the call again with what the person answered; an older one is asked on the stream of its call. Any other gets the link
as text.
"""

from collections.abc import Callable
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from webapp.errors import Invalid
from webapp.kit.crypto import new_id
from webapp.service.domain.accounts import accounts
from webapp.service.domain.base.service import Service
from webapp.service.mcp import linking, results
from webapp.service.mcp.calls import ToolCall
from webapp.service.mcp.linking import Link
from webapp.service.mcp.requests import Unconnected
from webapp.service.mcp.results import Result

QUESTION = "connect"
STATES = "mcp-states"  # what the key that signs them is derived for
ANSWER_S, CONNECT_S, ROUND_S = 300, 300, 20
ROUNDS = 8
"""Clients give up after ten."""
_DECLINED = "The person does not want to connect an account now. Go on without it."
_CONNECTING = "Waiting for the account to be connected."
_LATE = "The account is not connected yet. Ask the person to open the link, and call the tool again afterwards."


def connected(call: ToolCall, do: Callable[[ToolCall], Result]) -> Result:
    """What ``do`` answers to ``call``, once the account that it needs is connected; else how to connect it."""
    if (state := call.params.get("requestState")) is not None:
        return _resumed(call, do, state)
    try:
        return do(call)
    except Unconnected as missing:
        link = linking.link(call.service, call.visitor, missing)
        if isinstance(link, str):
            return results.failure(link)
        if call.client.opens_links and call.client.is_modern:
            return _required(call, missing.app, 0, link)
        if call.client.opens_links and call.line.streams:
            return _asked(call, do, missing.app, link)
        return results.failure(link.text)


def _asked(call: ToolCall, do: Callable[[ToolCall], Result], app: str, link: Link) -> Result:
    """Ask on the stream, and go on once the account is there."""
    answer = call.line.ask({**_question(link), "elicitationId": new_id("eli")}, ANSWER_S)
    if answer in ("decline", "cancel"):
        return results.failure(_DECLINED)
    if answer == "accept" and _waited(call, app, CONNECT_S):
        return _done(call, do)
    return results.failure(link.text)


def _required(call: ToolCall, app: str, rounds: int, link: Link | None = None) -> Result:
    """That the person's answer is needed, or where there is no ``link``, some more time."""
    state = _signer(call.service).dumps([call.visitor.external_id, call.name, app, rounds])
    question = {"method": "elicitation/create", "params": _question(link)} if link else None
    questions = {"inputRequests": {QUESTION: question}} if question else {}
    return {"resultType": "input_required", **questions, "requestState": state}


def _resumed(call: ToolCall, do: Callable[[ToolCall], Result], state: Any) -> Result:
    """Go on with a call whose client was told what is required. Raises :class:`Invalid` for a state of another call."""
    try:
        user, tool, app, rounds = _signer(call.service).loads(state)
    except (BadData, ValueError, TypeError) as error:
        raise Invalid("This call cannot be gone on with; call the tool anew.") from error
    if (user, tool) != (call.visitor.external_id, call.name):
        raise Invalid("This call cannot be gone on with; call the tool anew.")
    answers = call.params.get("inputResponses") or {}
    if rounds == 0 and answers.get(QUESTION, {}).get("action") != "accept":
        return results.failure(_DECLINED)
    if _waited(call, app, ROUND_S):
        return _done(call, do)
    return _required(call, app, rounds + 1) if rounds < ROUNDS else results.failure(_LATE)


def _done(call: ToolCall, do: Callable[[ToolCall], Result]) -> Result:
    """What ``do`` answers; a second account that is missing is told as text."""
    try:
        return do(call)
    except Unconnected as missing:
        link = linking.link(call.service, call.visitor, missing)
        return results.failure(link if isinstance(link, str) else link.text)


def _waited(call: ToolCall, app: str, seconds: float) -> bool:
    """Whether an account of ``app`` is connected within ``seconds``."""
    call.line.words = _CONNECTING
    return call.line.wait(lambda: _is_connected(call, app) or None, seconds) is not None


def _is_connected(call: ToolCall, app: str) -> bool:
    user = call.visitor.user(call.service)
    of_user = accounts.of_user(call.service.store, user) if user else ()
    return any(account.app == app and not account.dead for account in of_user)


def _question(link: Link) -> dict[str, Any]:
    return {"mode": "url", "message": f"{link.sentence} Open this page to connect it.", "url": link.url}


def _signer(service: Service) -> URLSafeSerializer:
    return URLSafeSerializer(service.keys.derive(STATES), salt="mcp")
