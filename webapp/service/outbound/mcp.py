"""A client of servers of the Model Context Protocol over HTTP: lists their tools, calls one, asks whether they answer.

A conversation is a generator: it yields requests and is sent their results, whatever carries them. That is Streamable
HTTP (a POST for each message, answered by JSON or by an event stream, which is resumed where it broke off), or the
older HTTP with SSE, which is tried where a server knows only that. Who sends is given (:class:`Ask`), so that every
request goes through the guard with the credential of its caller, and only to the address of the server.

What a server says is data: it is bounded, and its own requests (sampling, elicitation, roots) are declined. Failures
are values. Specification: https://modelcontextprotocol.io/specification/2025-11-25, read 2026-11-28.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import urljoin

from webapp.kit.text import one_line
from webapp.service.outbound.bodies import parse_json
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import REDIRECTS, Response
from webapp.service.outbound.server_sent_events import EventReader, ServerSentEvent
from webapp.service.outbound.transport import Watch
from webapp.service.outbound.urls import Url, parse_url

REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions that begin with a handshake, the newest first, which is the one that is asked for."""
MODERN = "2026-07-28"
"""The first revision without a handshake, for a server that takes no other."""
MOST_TOOLS, MOST_PAGES = 1_000, 100
MOST_SCHEMA_BYTES = 256 * 1024  # of one tool as it is listed
MOST_REQUESTS = 20  # of the server, while one of ours is open
MOST_NOTES, NOTE_CHARS = 200, 500
RESUMES, LONGEST_RETRY_MS = 5, 5_000
NAME_CHARS = 128
_CLIENT = {"name": "patchbay", "version": "1.0.0"}
EVENT_STREAM = "text/event-stream"
_ACCEPT = f"application/json, {EVENT_STREAM}"
_METHOD_NOT_FOUND, _UNSUPPORTED_REVISION = -32601, -32022
_NO_HANDSHAKE = (_METHOD_NOT_FOUND, _UNSUPPORTED_REVISION)
_OLD_TRANSPORT = (400, 404, 405)  # of a POST to a server of HTTP with SSE ("Backwards Compatibility")
_ENDED_SESSION = (400, 404)  # the standard says 404; servers that lost theirs with a restart say 400, too
_SESSION = re.compile(r"[\x21-\x7e]{1,1000}")
_NO_MCP = "The server did not answer by the Model Context Protocol. Check the address."
_WORDS = {
    401: "The server does not accept this sign-in. Connect the account again.",
    403: "The server does not allow this to the account.",
    429: "The server limits requests. Try again later.",
    **dict.fromkeys(REDIRECTS, "The server redirects to another address. Use the final one."),
}
_VENDOR = "io.modelcontextprotocol"
TOLD = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What a server says of a tool to those who choose it and fill it in."""
_NAMED = {"tools/call": "name"}
Params = Mapping[str, Any]
T = TypeVar("T")


class Ask(Protocol):
    """Sends one request to ``url``, the server's own address where it is empty."""

    def __call__(
        self, method: str, headers: Mapping[str, str], body: bytes | None, watch: Watch, url: str = ""
    ) -> Response | Failure: ...


@dataclass(frozen=True, slots=True)
class McpFailure:
    """Why a server did not do what was asked. ``sentence`` may be shown to a person.

    ``status`` is that of HTTP, ``code`` that of JSON-RPC; None where there is none. ``challenge`` is the header
    WWW-Authenticate of a refusal.
    """

    sentence: str
    status: int | None = None
    code: int | None = None
    challenge: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Handshake:
    """What a server agreed to: it holds for the following conversations, too. ``session`` is empty without one.

    ``transport`` is ``http``, ``sse`` (the older one) or ``modern`` (without a handshake).
    """

    revision: str
    session: str = field(default="", repr=False)
    transport: str = "http"
    server: Params = field(default_factory=dict)
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of a server as it lists them; ``left_out`` says of how many of them nothing is kept, and why."""

    tools: tuple[Params, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    params: Params = field(default_factory=dict)


Conversation = Generator[_Request, Params | McpFailure, T | McpFailure]


class McpClient:
    """Speaks with one server for one caller. Not for several threads.

    ``known`` is the handshake of an earlier conversation, which is begun anew once the server has forgotten it.
    ``note`` is called with each line that the server reports while it works. ``tools_changed``: whether it said that
    its list of tools is another one now.
    """

    def __init__(self, url: str, ask: Ask, known: Handshake | None = None, note: Callable[[str], None] | None = None):
        self._url, self._ask, self._note = url, ask, note or (lambda line: None)
        self.handshake = known
        self._last_id, self._noted = 0, 0
        self.tools_changed = False

    def begin(self) -> Handshake | McpFailure:
        """Agree on a revision, unless that was done."""
        return self.handshake or self._shaken()

    def tools(self) -> ToolList | McpFailure:
        """Every tool, of all pages of the list, within bounds."""
        return self._converse(_listing)

    def call(self, name: str, arguments: Params) -> Params | McpFailure:
        """The result of the tool ``name``: ``content``, ``structuredContent`` and ``isError``, as the server says."""
        return self._converse(lambda: _single("tools/call", {"name": name, "arguments": arguments}))

    def ping(self) -> Params | McpFailure:
        """Ask whether the server answers this caller: a ping, or its tools where it knows no ping."""
        return self._converse(_pinging)

    def end(self) -> None:
        """Let the server forget the session, if there is one."""
        if self.handshake and self.handshake.session:
            self._ask("DELETE", self._headers("DELETE", {}), None, _all)
        self.handshake = None

    def _converse(self, begin: Callable[[], Conversation[T]]) -> T | McpFailure:
        known = self.handshake
        outcome = self._carried(begin())
        if known is None or not isinstance(outcome, McpFailure):
            return outcome
        gone = _OLD_TRANSPORT if known.transport == "sse" else _ENDED_SESSION if known.session else ()
        if outcome.status not in gone:
            return outcome
        self.handshake = None
        return self._carried(begin())

    def _carried(self, conversation: Conversation[T]) -> T | McpFailure:
        shaken = self.begin()
        if isinstance(shaken, McpFailure):
            return shaken
        return self._over_sse(conversation) if shaken.transport == "sse" else self._over_http(conversation)

    def _over_http(self, conversation: Conversation[T]) -> T | McpFailure:
        try:
            request = next(conversation)
            while True:
                request = conversation.send(self._exchanged(request)[0])
        except StopIteration as ended:
            value: T | McpFailure = ended.value
            return value

    def _shaken(self) -> Handshake | McpFailure:
        self.handshake = None
        params = {"protocolVersion": REVISIONS[0], "capabilities": {}, "clientInfo": _CLIENT}
        result, session = self._exchanged(_Request("initialize", params))
        if isinstance(result, McpFailure):
            return self._otherwise(result)
        shaken = _agreed(result, session)
        if isinstance(shaken, Handshake):
            self.handshake = shaken
            self._notify("notifications/initialized")
        return shaken

    def _otherwise(self, refused: McpFailure) -> Handshake | McpFailure:
        """What a server that refuses the handshake takes instead: no handshake at all, or the older transport."""
        if refused.code in _NO_HANDSHAKE:
            self.handshake = Handshake(MODERN, transport="modern")
            result, _ = self._exchanged(_Request("server/discover"))
            if isinstance(result, McpFailure):
                self.handshake = None
                return refused
            self.handshake = Handshake(MODERN, "", "modern", _server(result), _text(result.get("instructions")))
            return self.handshake
        if refused.status in _OLD_TRANSPORT and refused.code is None:
            ended = self._over_sse(_nothing())
            if not isinstance(ended, McpFailure):
                assert self.handshake is not None
                return self.handshake
            if ended.status is None:  # it began an event stream: what went wrong there says more
                return ended
        return refused

    def _over_sse(self, conversation: Conversation[T]) -> T | McpFailure:
        talk = _SseTalk(self, self._url, conversation)
        outcome = self._ask("GET", {"Accept": EVENT_STREAM}, None, talk.take)
        if talk.ended is not None:
            return talk.ended.value
        if isinstance(outcome, Failure):
            return McpFailure(outcome.sentence)
        if not outcome.ok:
            return _refused(outcome)
        if outcome.content_type != EVENT_STREAM:
            return McpFailure(_NO_MCP, outcome.status)
        return McpFailure("The server ended its event stream without an answer. Try again later.")

    def _exchanged(self, request: _Request) -> tuple[Params | McpFailure, str]:
        """The result of ``request`` by Streamable HTTP, and the session that the answer names."""
        message = self.message(request)
        reader = _AnswerReader(self, message["id"])
        headers = self._headers(request.method, request.params)
        outcome = self._ask("POST", headers, _encoded(message), reader.take)
        if isinstance(outcome, Failure):
            return McpFailure(outcome.sentence), ""
        if not outcome.ok:
            return _refused(outcome), ""
        if outcome.content_type != EVENT_STREAM:
            return _of_body(outcome, message["id"]), outcome.headers.get("mcp-session-id", "")
        for _ in range(RESUMES):
            if reader.result is not None or not reader.events.last_id:
                break
            time.sleep(min(reader.events.retry_ms or 0, LONGEST_RETRY_MS) / 1_000)
            again = {**self._headers("GET", {}), "Accept": EVENT_STREAM, "Last-Event-ID": reader.events.last_id}
            resumed = self._ask("GET", again, None, reader.again().take)
            if isinstance(resumed, Failure) or not resumed.ok:
                break
        broken = McpFailure("The server ended its answer before it was complete. Check what it did, then try again.")
        return broken if reader.result is None else reader.result, outcome.headers.get("mcp-session-id", "")

    def message(self, request: _Request) -> dict[str, Any]:
        """``request`` with an id of its own."""
        self._last_id += 1
        params = dict(request.params)
        if request.method == "tools/call":
            params["_meta"] = {"progressToken": self._last_id}
        if self.handshake and self.handshake.transport == "modern":
            about = {"protocolVersion": MODERN, "clientCapabilities": {}, "clientInfo": _CLIENT}
            named = {f"{_VENDOR}/{name}": value for name, value in about.items()}
            params["_meta"] = {**params.get("_meta", {}), **named}
        return {"jsonrpc": "2.0", "id": self._last_id, "method": request.method, "params": params}

    def _headers(self, method: str, params: Params) -> dict[str, str]:
        headers = {"Accept": _ACCEPT, "Content-Type": "application/json"}
        if method in ("GET", "DELETE"):
            headers = {}
        if self.handshake:
            headers["MCP-Protocol-Version"] = self.handshake.revision
            if self.handshake.session:
                headers["Mcp-Session-Id"] = self.handshake.session
            if self.handshake.transport == "modern":
                headers["Mcp-Method"] = method
                if name := params.get(_NAMED.get(method, "")):
                    headers["Mcp-Name"] = str(name)
        return headers

    def _notify(self, method: str) -> None:
        self.post({"jsonrpc": "2.0", "method": method})

    def post(self, message: Params, url: str = "") -> Response | Failure:
        """Send a message that gets no answer."""
        return self._ask("POST", self._headers(str(message.get("method", "")), {}), _encoded(message), _all, url)

    def heard(self, message: Params, url: str = "") -> bool:
        """Take a message of the server that is no answer; False for a request too many, after which nothing is read."""
        method = message.get("method")
        if "id" in message and isinstance(method, str):
            self._noted += 1
            if self._noted > MOST_REQUESTS:
                return False
            self.post({"jsonrpc": "2.0", "id": message["id"], **_reply(method)}, url)
            if method != "ping":
                self._note(f"The server asked for {one_line(method, 100)}, which was declined.")
        elif method == "notifications/tools/list_changed":
            self.tools_changed = True
        elif line := _reported(method, message.get("params")):
            self._note(line)
        return True


class _AnswerReader:
    """Reads the event stream that answers one request."""

    def __init__(self, client: McpClient, id_: int) -> None:
        self._client, self._id = client, id_
        self.events = EventReader()
        self.result: Params | McpFailure | None = None
        self._notes = 0

    def again(self) -> "_AnswerReader":
        """Itself, for the stream that resumes the one that broke off."""
        before, self.events = self.events, EventReader()
        self.events.last_id, self.events.retry_ms = before.last_id, before.retry_ms
        return self

    def take(self, head: Response, block: bytes) -> bool:
        """Take a block of the body; whether the answer is complete."""
        if not head.ok or head.content_type != EVENT_STREAM:
            return False
        for event in self.events.feed(block):
            message = _message(event)
            if message is None:
                continue
            if message.get("id") == self._id and "method" not in message:
                self.result = _of_message(message)
                return True
            self._notes += 1
            if self._notes <= MOST_NOTES and not self._client.heard(message):
                self.result = McpFailure("The server asked for too much while it worked, so its answer was not read.")
                return True
        return False


@dataclass(frozen=True, slots=True)
class _Ended(Generic[T]):
    value: T | McpFailure


class _SseTalk(Generic[T]):
    """A conversation over HTTP with SSE: the answers to our POSTs come on the stream that a GET opened.

    ``ended`` has its value once there is one.
    """

    def __init__(self, client: McpClient, url: str, conversation: Conversation[T]) -> None:
        self._client, self._url, self._conversation = client, url, conversation
        self._events, self._endpoint, self._waiting = EventReader(), "", 0
        self._shaken, self._notes = False, 0
        self.ended: _Ended[T] | None = None

    def take(self, head: Response, block: bytes) -> bool:
        """Take a block of the stream; whether the conversation has ended."""
        if not head.ok or head.content_type != EVENT_STREAM:
            return True
        for event in self._events.feed(block):
            if event.name == "endpoint":
                self._begin(event.data)
            elif self._endpoint and (message := _message(event)) is not None:
                self._hear(message)
            if self.ended is not None:
                return True
        return False

    def _begin(self, endpoint: str) -> None:
        url, own = _joined(self._url, endpoint.strip()), parse_url(self._url)
        if self._endpoint or isinstance(url, Failure) or isinstance(own, Failure) or url.origin != own.origin:
            self._end(McpFailure("The server names another host for its messages, so nothing was sent there."))
            return
        self._endpoint = str(url)
        params = {"protocolVersion": REVISIONS[-1], "capabilities": {}, "clientInfo": _CLIENT}
        self._send(_Request("initialize", params))

    def _send(self, request: _Request) -> None:
        message = self._client.message(request)
        self._waiting = message["id"]
        outcome = self._client.post(message, self._endpoint)
        if isinstance(outcome, Failure):
            self._end(McpFailure(outcome.sentence))
        elif not outcome.ok:
            self._end(_refused(outcome))

    def _hear(self, message: Params) -> None:
        if message.get("id") != self._waiting or "method" in message:
            self._notes += 1
            if self._notes <= MOST_NOTES and not self._client.heard(message, self._endpoint):
                self._end(McpFailure("The server asked for too much while it worked, so its answer was not read."))
            return
        result = _of_message(message)
        try:
            if self._shaken:
                self._send(self._conversation.send(result))
                return
            self._shaken = True
            shaken = result if isinstance(result, McpFailure) else _agreed(result, "", "sse")
            if isinstance(shaken, McpFailure):
                self._end(shaken)
                return
            self._client.handshake = shaken
            self._client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, self._endpoint)
            self._send(next(self._conversation))
        except StopIteration as ended:
            self._end(ended.value)

    def _end(self, value: T | McpFailure) -> None:
        self.ended = _Ended(value)


def fingerprint(tool: Params) -> str:
    """What tells a tool from any other, and from itself once it has changed: the SHA-256, in hex, of all that a server
    says about it to those who choose and fill it in."""
    facts = {name: tool.get(name) for name in TOLD}
    return hashlib.sha256(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _joined(base: str, reference: str) -> Url | Failure:
    try:
        return parse_url(urljoin(base, reference))
    except ValueError:
        return Failure("bad_response", _NO_MCP)


def _nothing() -> Conversation[None]:
    yield from ()
    return None


def _single(method: str, params: Params) -> Conversation[Params]:
    return (yield _Request(method, params))


def _pinging() -> Conversation[Params]:
    result = yield _Request("ping")
    if isinstance(result, McpFailure) and result.code == _METHOD_NOT_FOUND:
        result = yield _Request("tools/list")
    return result


def _listing() -> Conversation[ToolList]:
    tools, left_out, cursor = list[Params](), list[str](), None
    for _ in range(MOST_PAGES):
        result = yield _Request("tools/list", {"cursor": cursor} if cursor else {})
        if isinstance(result, McpFailure):
            return result
        listed = result.get("tools")
        for node in listed if isinstance(listed, list) else ():
            reason = _wrong(node)
            if reason or len(tools) >= MOST_TOOLS:
                left_out.append(reason or f"there are more than {MOST_TOOLS:,} tools")
            else:
                tools.append(node)
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str) or not cursor or len(tools) >= MOST_TOOLS:
            break
    return ToolList(tuple(tools), tuple(left_out))


def _wrong(node: Any) -> str:
    """Why a tool that a server lists is left out; empty for a usable one."""
    if not isinstance(node, Mapping) or not isinstance(node.get("name"), str) or not node["name"].strip():
        return "a tool has no name"
    name = one_line(node["name"], 60)
    if len(node["name"]) > NAME_CHARS:
        return f"the name of {name} is too long"
    if not isinstance(node.get("inputSchema"), Mapping):
        return f"{name} does not say what it takes"
    if len(json.dumps(node)) > MOST_SCHEMA_BYTES:
        return f"what {name} takes is described in more than {MOST_SCHEMA_BYTES // 1024} KiB"
    return ""


def _agreed(result: Params, session: str, transport: str = "http") -> Handshake | McpFailure:
    revision = result.get("protocolVersion")
    if revision not in REVISIONS:
        return McpFailure(f"The server speaks the revision {one_line(str(revision), 40)}, which is not known here.")
    if session and not _SESSION.fullmatch(session):
        return McpFailure("The server gave a session id that cannot be sent back. Try again later.")
    return Handshake(str(revision), session, transport, _server(result), _text(result.get("instructions")))


def _server(result: Params) -> Params:
    about = result.get("serverInfo")
    return about if isinstance(about, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _reply(method: str) -> dict[str, Any]:
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": _METHOD_NOT_FOUND, "message": "This client answers no requests of servers."}}


def _reported(method: Any, params: Any) -> str:
    """What a notification says, as one line; empty where it is of no use to a person."""
    params = params if isinstance(params, Mapping) else {}
    if method == "notifications/progress":
        done, total, message = params.get("progress"), params.get("total"), params.get("message")
        parts = f"{done} of {total}" if total is not None else f"{done}"
        return one_line(f"{message} ({parts})" if isinstance(message, str) and message else parts, NOTE_CHARS)
    if method == "notifications/message":
        data = params.get("data")
        return one_line(data if isinstance(data, str) else json.dumps(data), NOTE_CHARS)
    return ""


def _message(event: ServerSentEvent) -> Params | None:
    parsed = parse_json(event.data.encode()) if event.name == "message" and event.data else None
    value = None if parsed is None or isinstance(parsed, Failure) else parsed.value
    return value if isinstance(value, Mapping) else None


def _of_body(outcome: Response, id_: int) -> Params | McpFailure:
    """The result in a JSON body, which may be a batch (revision 2025-03-26)."""
    parsed = outcome.json()
    if isinstance(parsed, Failure):
        return McpFailure(parsed.sentence, outcome.status)
    messages = parsed.value if isinstance(parsed.value, list) else [parsed.value]
    for message in messages:
        if isinstance(message, Mapping) and message.get("id") == id_ and "method" not in message:
            return _of_message(message)
    return McpFailure(_NO_MCP, outcome.status)


def _of_message(message: Params) -> Params | McpFailure:
    error, result = message.get("error"), message.get("result")
    if isinstance(error, Mapping):
        code = error.get("code")
        return McpFailure(_said(error), None, code if isinstance(code, int) else None)
    if isinstance(result, Mapping):
        return result
    return McpFailure("The server's answer holds no result. Try again later.")


def _refused(outcome: Response) -> McpFailure:
    """Why a request was not accepted: by its status, or by the error in its body."""
    status, challenge = outcome.status, outcome.headers.get("www-authenticate", "")
    if status in _WORDS:
        return McpFailure(_WORDS[status], status, None, challenge)
    parsed = outcome.json() if outcome.body.strip() else None
    body = parsed.value if parsed is not None and not isinstance(parsed, Failure) else None
    error = body.get("error") if isinstance(body, Mapping) and "jsonrpc" in body else None
    if isinstance(error, Mapping):
        code = error.get("code")
        return McpFailure(_said(error), status, code if isinstance(code, int) else None, challenge)
    return McpFailure(f"The server answered with status {status}. Try again later.", status, None, challenge)


def _said(error: Params) -> str:
    message = error.get("message")
    text = one_line(message, NOTE_CHARS) if isinstance(message, str) else ""
    return f"The server says: {text}" if text else "The server refused the request without a reason."


def _encoded(message: Params) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


def _all(head: Response, block: bytes) -> bool:
    """Reads everything that is short enough; a stream that answers a notification is not waited for."""
    return head.content_type == EVENT_STREAM
