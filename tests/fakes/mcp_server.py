"""An MCP server on loopback that does what a test says: it answers by JSON or by event streams, breaks off, asks for
things, forgets sessions, knows only the older transport, or no handshake. It may be its own authorization server."""

import base64
import hashlib
import json
import queue
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from webapp.service.domain.base.service import Service
from webapp.service.outbound.guard import Guard

JSON, STREAM = "application/json", "text/event-stream"
SEARCH = {
    "name": "search_notes",
    "title": "Search notes",
    "description": "Finds notes by their words.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Words."}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
    "annotations": {"readOnlyHint": True},
}
ERASE = {"name": "erase", "description": "Erases everything.", "inputSchema": {"type": "object"}}


@dataclass(frozen=True)
class Asked:
    """One request as it came in; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    message: Any


@dataclass
class Manner:
    """How the server behaves. ``key`` is the token that it wants; ``before`` are messages that it sends before each
    result of a tool; ``old`` and ``modern`` are its only transport; ``break_after`` ends a stream after ``before``, and
    gives the rest to whoever resumes it; ``hold`` leaves a stream open after the result; ``redirects`` and ``slow`` (in
    seconds) are by path."""

    tools: list[dict[str, Any]] = field(default_factory=lambda: [SEARCH, ERASE])
    page: int = 50
    key: str = ""
    sessions: bool = True
    answer: str = JSON
    results: dict[str, Any] = field(default_factory=dict)
    before: list[dict[str, Any]] = field(default_factory=list)
    revision: str = ""
    old: bool = False
    modern: bool = False
    break_after: bool = False
    hold: bool = False
    endpoint: str = "/messages?id=1"
    body: bytes | None = None
    challenge: str = "Bearer"
    pages: dict[str, Any] = field(default_factory=dict)
    client: Any = None
    redirects: dict[str, str] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)


@dataclass
class SignIns:
    """The authorization server: clients that it registered, and what it gave to whom. ``person`` signs in next;
    ``resource`` is for what tokens are given; ``asked`` are the forms that its token endpoint got."""

    resource: str
    person: str = "ada"
    clients: set[str] = field(default_factory=set)
    codes: dict[str, tuple[str, str]] = field(default_factory=dict)
    access: dict[str, str] = field(default_factory=dict)
    refresh: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    def authorize(self, asked: dict[str, str], home: str) -> str:
        """Where the browser of the person who signs in goes; empty for a client that is not known."""
        client, code = asked.get("client_id", ""), secrets.token_hex(8)
        if client not in self.clients and not client.startswith("https://"):
            return ""
        self.codes[code] = self.person, asked["code_challenge"]
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': home})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The answer of the token endpoint."""
        self.asked.append(form)
        if form.get("client_id") not in self.clients and not form.get("client_id", "").startswith("https://"):
            return 401, {"error": "invalid_client"}
        if form.get("resource") != self.resource:
            return 400, {"error": "invalid_target"}
        if form["grant_type"] == "refresh_token":
            person = self.refresh.pop(form["refresh_token"], "")
            return self._given(person) if person else (400, {"error": "invalid_grant"})
        person, challenge = self.codes.pop(form["code"], ("", ""))
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if not person or base64.urlsafe_b64encode(digest).decode().rstrip("=") != challenge:
            return 400, {"error": "invalid_grant"}
        return self._given(person)

    def _given(self, person: str) -> tuple[int, dict[str, Any]]:
        access, refresh = (f"{kind}-{secrets.token_hex(12)}" for kind in ("canary-access", "canary-refresh"))
        self.access[access], self.refresh[refresh] = person, person
        return 200, {"access_token": access, "refresh_token": refresh, "expires_in": 3600, "token_type": "Bearer"}


class McpServer(ThreadingHTTPServer):
    """``asked`` is all that came in. A server of ``manner``."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, manner: Manner) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.manner, self.asked = manner, list[Asked]()
        self.closing = threading.Event()
        self.host = f"127.0.0.1:{self.server_address[1]}"
        self.url = f"http://{self.host}/mcp"
        self.sessions, self.left = set[str](), list[Any]()
        self.streams: queue.Queue[Any] = queue.Queue()
        self.sign_ins: SignIns | None = None
        self.clients = 0

    def messages(self, method: str) -> list[Any]:
        """The messages of ``method`` that came in."""
        return [each.message for each in self.asked if each.message and each.message.get("method") == method]

    @property
    def replies(self) -> list[Any]:
        """The answers to what the server asked."""
        return [each.message for each in self.asked if each.message and "method" not in each.message]

    @property
    def registered(self) -> list[Any]:
        """The clients that asked to be registered."""
        return [each.message for each in self.asked if each.path == "/register"]

    def sign_in(self, methods: list[str] | None = None, **changes: Any) -> None:
        """Let people sign in here; ``changes`` are of the issuer's metadata."""
        home = f"http://{self.host}"
        metadata = {
            "issuer": home,
            "authorization_endpoint": f"{home}/authorize",
            "token_endpoint": f"{home}/token",
            "registration_endpoint": f"{home}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": methods or ["none", "client_secret_basic"],
            **changes,
        }
        resource = {"resource": self.url, "authorization_servers": [home], "scopes_supported": ["notes"]}
        self.manner.pages |= {
            "/.well-known/oauth-protected-resource/mcp": resource,
            "/.well-known/oauth-authorization-server": metadata,
        }

    def open_to_people(self, **changes: Any) -> SignIns:
        """Give tokens to people who sign in, and answer nobody else; ``changes`` as in :meth:`sign_in`."""
        self.sign_in(["none"], **changes)
        self.sign_ins = SignIns(self.url)
        return self.sign_ins

    def handle_error(self, *_: object) -> None:
        """Whoever hung up on us is not our trouble."""

    def result(self, message: Any, person: str = "") -> dict[str, Any]:
        """The answer to ``message`` of ``person``, as JSON-RPC."""
        method, params, manner = message["method"], message.get("params", {}), self.manner
        outcome = manner.results[method] if method in manner.results else self._result(method, params, person)
        key = "error" if "code" in outcome else "result"
        return {"jsonrpc": "2.0", "id": message["id"], key: outcome}

    def _result(self, method: str, params: Any, person: str) -> dict[str, Any]:
        manner = self.manner
        about = {"serverInfo": {"name": "notes", "title": "Notes", "version": "1.2.3"}, "capabilities": {"tools": {}}}
        if method == "initialize" and not manner.modern:
            return {"protocolVersion": manner.revision or params["protocolVersion"], **about}
        if method == "server/discover" and manner.modern:
            return {"supportedVersions": ["2026-07-28"], **about}
        if method == "ping":
            return {}
        if method == "tools/list":
            first = int(params.get("cursor") or 0)
            last = first + manner.page
            more = {"nextCursor": str(last)} if last < len(manner.tools) else {}
            return {"tools": manner.tools[first:last], **more}
        if method == "tools/call":
            said = person or json.dumps(params.get("arguments"), sort_keys=True)
            return manner.results.get(params["name"]) or {"content": [{"type": "text", "text": said}]}
        return {"code": -32601, "message": "Method not found"}


class _Handler(BaseHTTPRequestHandler):
    server: McpServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path == "/token" and self.server.sign_ins:
            status, given = self.server.sign_ins.token(dict(parse_qsl(body.decode())))
            self._send(status, json.dumps(given).encode(), JSON)
            return
        message = json.loads(body) if body else None
        self._note(message)
        manner = self.server.manner
        if self._led_away():
            return
        if self.path == "/register":
            self.server.clients += 1
            client = manner.client or {"client_id": f"client-{self.server.clients}"}
            if self.server.sign_ins:
                self.server.sign_ins.clients.add(client.get("client_id", ""))
            self._send(201 if "client_id" in client else 400, json.dumps(client).encode(), JSON)
        elif manner.body is not None:
            self._send(200, manner.body, JSON)
        elif (self.server.sign_ins and not self._person()) or (
            manner.key and self.headers.get("authorization") != f"Bearer {manner.key}"
        ):
            self._send(401, b"", JSON, {"WWW-Authenticate": manner.challenge})
        elif manner.old and not self.path.startswith("/messages"):
            self._send(405, b"", "text/html")
        elif manner.old:
            if message is not None and "id" in message and "method" in message:
                self.server.streams.put(message)
            self._send(202, b"", "")
        elif message is None or "id" not in message or "method" not in message:
            self._send(202, b"", "")
        else:
            self._answer(message)

    def do_GET(self) -> None:
        self._note(None)
        if self._led_away():
            return
        if self.path.startswith("/authorize?") and self.server.sign_ins:
            asked, home = dict(parse_qsl(urlsplit(self.path).query)), f"http://{self.server.host}"
            place = self.server.sign_ins.authorize(asked, home)
            self._send(303 if place else 400, b"", "text/html", {"Location": place} if place else {})
        elif self.path in self.server.manner.pages:
            self._send(200, json.dumps(self.server.manner.pages[self.path]).encode(), JSON)
        elif self.server.manner.old:
            self._begin_stream()
            mine = self.server.streams = queue.Queue()
            self._event({}, name="endpoint", data=self.server.manner.endpoint)
            while not self.server.closing.is_set():
                with suppress(queue.Empty):
                    message = mine.get(timeout=0.05)
                    for each in self.server.manner.before if message["method"] == "tools/call" else ():
                        self._event(each)
                    self._event(self.server.result(message))
        elif self.headers.get("last-event-id") and self.server.left:
            self._begin_stream()
            self._event(self.server.left.pop(0))
            self._end_stream()
        else:
            self._send(405, b"", "")

    def do_DELETE(self) -> None:
        self._note(None)
        self.server.sessions.discard(self.headers.get("mcp-session-id", ""))
        self._send(200, b"", "")

    def _answer(self, message: Any) -> None:
        server, manner = self.server, self.server.manner
        given = str(self.headers.get("mcp-session-id", ""))
        begins = message["method"] == "initialize"
        if manner.sessions and not begins and not manner.modern and given not in server.sessions:
            error = {"code": -32001, "message": "Session not found"}
            self._send(404, json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode(), JSON)
            return
        session = {}
        if begins and manner.sessions and not manner.modern:
            server.sessions.add(f"s{len(server.asked)}")
            session = {"Mcp-Session-Id": f"s{len(server.asked)}"}
        result = server.result(message, self._person())
        if manner.answer == JSON or begins:
            self._send(200, json.dumps(result).encode(), JSON, session)
            return
        self._begin_stream()
        for number, each in enumerate(manner.before if message["method"] == "tools/call" else ()):
            self._event(each, number=f"e{number}")
        if manner.break_after and message["method"] == "tools/call":
            server.left.append(result)
            self._end_stream()
            return
        self._event(result)
        if manner.hold:
            server.closing.wait(30)
        self._end_stream()

    def _led_away(self) -> bool:
        """Take its time, and send the caller elsewhere, where this path does."""
        manner = self.server.manner
        self.server.closing.wait(manner.slow.get(self.path, 0.0))
        place = manner.redirects.get(self.path)
        if place:
            self._send(307, b"", "text/html", {"Location": place})
        return place is not None

    def _person(self) -> str:
        """Who asks, by the token."""
        token = str(self.headers.get("authorization", "")).removeprefix("Bearer ")
        return self.server.sign_ins.access.get(token, "") if self.server.sign_ins else ""

    def _note(self, message: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append(Asked(self.command, self.path, headers, message))

    def _send(self, status: int, body: bytes, media_type: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Content-Type": media_type, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", STREAM)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _event(self, message: Any, *, name: str = "message", data: str = "", number: str = "") -> None:
        text = f"event: {name}\n{f'id: {number}' if number else ': none'}\ndata: {data or json.dumps(message)}\n\n"
        for part in (text[:9], text[9:]):  # in two parts, so that no reader counts on whole events
            self.wfile.write(f"{len(part.encode()):x}\r\n".encode() + part.encode() + b"\r\n")
            self.wfile.flush()

    def _end_stream(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


def reach(monkeypatch: pytest.MonkeyPatch, service: Service, server: McpServer) -> None:
    """Let ``service`` reach ``server``, which is on loopback, during a test."""
    guard = Guard([server.host])
    transport = replace(service.outbound._transport, guard=guard)
    monkeypatch.setattr(service.outbound, "guard", guard)
    monkeypatch.setattr(service.outbound, "_transport", transport)


@contextmanager
def serving(**manner: Any) -> Iterator[McpServer]:
    """A server of that manner until the block ends."""
    server = McpServer(Manner(**manner))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
