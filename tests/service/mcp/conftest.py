"""Agents over a service of the tests' own: one that speaks the modern revision, and one that begins a session."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.service.conftest import GOOD_KEY
from webapp.kit.clock import FakeClock
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.mcp import protocol
from webapp.service.mcp.wiring import register

LINKS: dict[str, Any] = {"elicitation": {"url": {}}}


ACCEPTS = {"Accept": "application/json, text/event-stream"}


@dataclass
class Events:
    """An answer that comes message by message."""

    answer: TestResponse

    def __iter__(self) -> Iterator[Any]:
        """The messages, and None for each comment."""
        for event in self.answer.iter_encoded():
            yield None if event.startswith(b":") else orjson.loads(event.partition(b"data: ")[2])


@dataclass
class Agent:
    """An agent at ``/mcp``. ``headers`` are sent with each message; ``can`` is what it declares that it can do."""

    http: FlaskClient
    headers: dict[str, str]
    can: dict[str, Any] = field(default_factory=dict)
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    def send(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> TestResponse:
        """One request of the modern revision."""
        meta = {
            protocol.REVISION_KEY: protocol.MODERN,
            protocol.CAPABILITIES_KEY: self.can,
            protocol.CLIENT_KEY: {"name": "Robot", "version": "1"},
        }
        params = {**(params or {}), "_meta": {**meta, **(params or {}).get("_meta", {})}}
        named = {"mcp-name": params["name"]} if method == "tools/call" else {}
        routing = {"mcp-protocol-version": protocol.MODERN, "mcp-method": method, **named}
        body = {"jsonrpc": "2.0", "id": next(self.numbers), "method": method, "params": params}
        return self.http.post("/mcp", json=body, headers={**self.headers, **routing, **headers})

    def post(self, method: str, params: Any = None, **headers: str) -> TestResponse:
        """One request as older revisions have it, which says nothing of itself."""
        body = {"jsonrpc": "2.0", "id": next(self.numbers), "method": method, **({"params": params} if params else {})}
        return self.http.post("/mcp", json=body, headers={**self.headers, **headers})

    def begin(self, revision: str = "2025-11-25", **can: Any) -> "Agent":
        """The same in a session of an older revision."""
        hello = {"protocolVersion": revision, "capabilities": can, "clientInfo": {"name": "old-robot", "version": "1"}}
        answer = self.post("initialize", hello)
        assert answer.status_code == 200, answer.text
        session = {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": revision}
        return Agent(self.http, {**self.headers, **session}, can, self.numbers)

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The result of one request, which the types of the revision accept."""
        from mcp_types.methods import validate_server_result

        answer = self.send(method, params)
        assert answer.status_code == 200, answer.text
        result = answer.get_json()["result"]
        validate_server_result(method, protocol.MODERN, result)
        return result

    def call(self, name: str, **arguments: Any) -> Any:
        """The result of a tool."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def stream(self, method: str, params: dict[str, Any], **headers: str) -> "Events":
        """One request whose client takes messages before the answer; read as they come."""
        return Events(self.send(method, params, **ACCEPTS, **headers))

    def text(self, name: str, **arguments: Any) -> str:
        """What a tool says."""
        return "\n".join(part["text"] for part in self.call(name, **arguments)["content"])

    def tools(self) -> dict[str, Any]:
        """All tools by name."""
        tools, cursor = dict[str, Any](), ""
        while cursor is not None:
            page = self.ask("tools/list", {"cursor": cursor} if cursor else {})
            tools |= {tool["name"]: tool for tool in page["tools"]}
            cursor = page.get("nextCursor")
        return tools


@dataclass
class World:
    """A service with ``/mcp``, and who comes to it."""

    service: Service
    clock: FakeClock
    http: FlaskClient
    scene: Scene
    plant: Callable[..., Account]

    def agent(self, user: str = "alice", apps: str = "", **can: Any) -> Agent:
        """An agent with a Connect token."""
        token = connect_tokens.create(self.service, self.scene, TokenRequest(user), client_id=None)["token"]
        named = {"x-pd-app-slug": apps} if apps else {}
        return Agent(self.http, {"Authorization": f"Bearer {token}", **named}, can)

    def server_agent(self, user: str = "alice", scope: str | None = None) -> Agent:
        """An agent of the product's own server, with an OAuth access token."""
        client, _ = oauth_clients.create(self.service, name="Server")
        token = access_tokens.issue(self.service, client, scope).token
        where = {"x-pd-project-id": self.scene.project_id, "x-pd-environment": self.scene.environment}
        return Agent(self.http, {"Authorization": f"Bearer {token}", **where, "x-pd-external-user-id": user})

    def account(self, user: str = "alice", **more: Any) -> Account:
        """An account of Tiny Keys that works."""
        return self.plant(user, values={"api_key": GOOD_KEY, "region": "eu"}, **more)


@pytest.fixture
def world(
    service: Service, clock: FakeClock, scene: Scene, plant_in: Callable[[Service, Scene], Callable[..., Account]]
) -> World:
    """A fresh world for one test."""
    app = Flask("mcp_tests")
    register(app, service)
    return World(service, clock, app.test_client(use_cookies=False), scene, plant_in(service, scene))
