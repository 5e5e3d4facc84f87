"""``POST /mcp``: one message per request (stateless Streamable HTTP), in all revisions of the protocol."""

import base64
from collections.abc import Mapping
from typing import Any

import orjson
from flask import Request, Response

from webapp import audit, body_limits
from webapp.errors import Invalid, NotFound, PatchbayError
from webapp.service.api import components
from webapp.service.api.base import cors, problems
from webapp.service.api.base.call import Call, answer, check_size_and_text, read_json_value
from webapp.service.api.base.call_limits import Gate
from webapp.service.api.base.dispatch import bearer
from webapp.service.components.tool_names import SEARCH
from webapp.service.domain.agents import sessions
from webapp.service.domain.agents.sessions import AgentSession
from webapp.service.domain.base.service import Service
from webapp.service.mcp import authentication, calls, clients, event_streams, protocol, tools
from webapp.service.mcp.authentication import Visitor
from webapp.service.mcp.calls import ToolCall
from webapp.service.mcp.clients import Client
from webapp.service.mcp.event_streams import Line, Places, Work, pass_on
from webapp.service.mcp.protocol import Message, ProtocolError

NAME, TITLE, VERSION = "patchbay", "Patchbay", "0.1.0"
INSTRUCTIONS = (
    "The tools act in the apps that the person has connected. Where an account is missing, a tool answers with a link: "
    "give it to the person, and call the tool again once they have connected the account. Where an argument's values "
    "are to be looked up, use list_options first."
)
FRESH_MS = 60_000
_INFO = {"name": NAME, "title": TITLE, "version": VERSION}
_CAPABILITIES: Mapping[str, Any] = {"tools": {}}
_EXECUTE = next(operation for operation in components.operations if operation.name == "run_action")
_LIST = next(operation for operation in components.operations if operation.name == "list_actions")


class Endpoint:
    """Answers the messages of agents. Threads share one."""

    def __init__(self, service: Service) -> None:
        self._service, self._gate = service, Gate(service)
        self._places = Places(max(1, service.settings.threads // 4))

    def answer(self, request: Request) -> Response:
        """The response to one request. Raises only unexpected errors."""
        try:
            visitor = self._admitted(request)
            body = _body(request)
            if isinstance(body, list):
                revision = clients.revision_of(self._service, request.headers, visitor.external_id)
                protocol.check_batch(body, revision)
        except ProtocolError as error:
            return _failed(None, error, error.status)
        except PatchbayError as error:
            return self._refused(None, error)
        if isinstance(body, list):
            return protocol.answer_batch(body, lambda each: self._answer_message(request, visitor, each, streams=False))
        return self._answer_message(
            request, visitor, body, streams=event_streams.MEDIA_TYPE in request.headers.get("Accept", "")
        )

    def _answer_message(self, request: Request, visitor: Visitor, body: Any, *, streams: bool) -> Response:
        """The response to one message. ``streams`` says that the client accepts other messages before it."""
        message: Message | None = None
        client: Client | None = None
        try:
            message = protocol.read(body)
            client = clients.read(self._service, request.headers, message, visitor.external_id)
            if message.id is None or message.method is None:
                self._count(request, visitor, searches=True)
                pass_on(self._service, client, message)
                return Response(status=202)
            return self._answered(request, visitor, client, message, streams=streams)
        except ProtocolError as error:
            # Older clients treat any other status as a transport failure and ignore the body.
            return _failed(message, error, 200 if client and not client.is_modern else error.status)
        except PatchbayError as error:
            return self._refused(message, error)

    def _admitted(self, request: Request) -> Visitor:
        """The visitor of the request. A page of another origin is refused first."""
        check_size_and_text(request, body_limits.AGENT_MESSAGE)
        origin = request.headers.get("Origin")
        if origin and not authentication.admits(self._service, origin, bearer()):
            raise cors.refuse(self._service, origin, bearer())
        return authentication.identify(self._service, bearer(), request.headers)

    def _answered(
        self, request: Request, visitor: Visitor, client: Client, message: Message, *, streams: bool
    ) -> Response:
        protocol.check(message, client.revision)
        match message.method:
            case "initialize":
                return self._initialized(message)
            case "server/discover":
                return _done(client, message, self._discovered())
            case "tools/list":
                self._count(request, visitor, searches=True)
                self._enter(visitor, client)
                return _done(client, message, self._listed(visitor, message))
            case "tools/call":
                return self._called(request, visitor, client, message, streams=streams)
            case "ping":
                return _done(client, message, {})
        raise ProtocolError(protocol.METHOD_NOT_FOUND, protocol.NO_METHOD)

    def _initialized(self, message: Message) -> Response:
        revision, session = clients.begin(self._service, message.params)
        result = {
            "protocolVersion": revision,
            "capabilities": _CAPABILITIES,
            "serverInfo": _INFO,
            "instructions": INSTRUCTIONS,
        }
        response = _done(Client(revision), message, result)
        response.headers[clients.SESSION_HEADER] = session
        return response

    def _discovered(self) -> dict[str, Any]:
        facts = {"supportedVersions": [protocol.MODERN], "capabilities": _CAPABILITIES}
        return {**facts, "instructions": INSTRUCTIONS, "ttlMs": FRESH_MS, "cacheScope": "private"}

    def _listed(self, visitor: Visitor, message: Message) -> dict[str, Any]:
        page, last = tools.listed(self._service, visitor, _opened(message.params.get("cursor")))
        more = {"nextCursor": base64.urlsafe_b64encode(last.encode()).decode()} if last else {}
        return {"tools": page, **more, "ttlMs": FRESH_MS, "cacheScope": "private"}

    def _called(
        self, request: Request, visitor: Visitor, client: Client, message: Message, *, streams: bool
    ) -> Response:
        name, arguments = message.params["name"], message.params.get("arguments") or {}
        self._count(request, visitor, searches=name == SEARCH)
        line = Line(self._service, client, message, self._places, streams=streams)
        session = self._enter(visitor, client)
        call = ToolCall(self._service, visitor, client, session, line, name, arguments, message.params)

        def produce() -> dict[str, Any]:
            with audit.acting(visitor.caller.actor):
                return calls.answer(call)

        work = Work(line, produce)
        return event_streams.answer(work, message, client, lambda result: _drawn(client, message, result))

    def _enter(self, visitor: Visitor, client: Client) -> AgentSession:
        """Record the agent's session. Raises :class:`webapp.errors.Forbidden` if the person ended its access."""
        name = visitor.signed_in.name if visitor.signed_in else client.name
        return sessions.enter(self._service, visitor.scene, visitor.external_id, visitor.entry, name)

    def _count(self, request: Request, visitor: Visitor, *, searches: bool) -> None:
        """Count the call like the same call of the API (contract "Rate limits").

        Raises ``Throttled`` and ``Invalid``.
        """
        call = Call(self._service, request, {}, visitor.caller, visitor.scene)
        self._gate.count(call, _LIST if searches else _EXECUTE, visitor.external_id)

    def _refused(self, message: Message | None, error: PatchbayError) -> Response:
        """The JSON-RPC error for ``error``, with an HTTP status; never 404, which would mean that a session has
        ended."""
        response = problems.answer_error(error, "")
        status = 400 if isinstance(error, NotFound) else error.status
        code = protocol.INVALID_PARAMS if status == 400 else protocol.REFUSED
        response.status_code = status
        response.set_data(_failed(message, ProtocolError(code, error.message), status).get_data())
        if error.status == 401:
            response.headers["WWW-Authenticate"] = authentication.challenge(self._service, known=not bearer())
        return response


def _body(request: Request) -> Any:
    try:
        return read_json_value(request, body_limits.AGENT_MESSAGE)
    except Invalid as error:
        raise ProtocolError(protocol.PARSE_ERROR, error.message) from error


def _opened(cursor: Any) -> str:
    """The name after which a page begins. Raises :class:`ProtocolError` for an invalid cursor."""
    try:
        return base64.urlsafe_b64decode(cursor or "").decode()
    except ValueError as error:
        message = "The cursor is broken; start again without it."
        raise ProtocolError(protocol.INVALID_PARAMS, message) from error


def _done(client: Client, message: Message, result: dict[str, Any]) -> Response:
    return Response(_drawn(client, message, result), mimetype="application/json")


def _drawn(client: Client, message: Message, result: dict[str, Any]) -> bytes:
    if client.is_modern:
        result = {"resultType": "complete", **result, "_meta": {protocol.SERVER_KEY: _INFO}}
    return orjson.dumps({"jsonrpc": "2.0", "id": message.id, "result": result})


def _failed(message: Message | None, error: ProtocolError, status: int) -> Response:
    return answer(protocol.failure(message.id if message else None, error), status)
