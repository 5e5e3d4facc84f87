"""The fake MCP server (:mod:`tests.fakes.mcp_server`) in the place of those that providers host."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.fakes.mcp_server import McpServer
from webapp.service.domain.base.service import Service
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.transport import AnySocket, Limits, Transport, connect


@dataclass(frozen=True)
class Rerouting(Transport):
    """Every connection arrives at ``port`` of this machine, unencrypted; every check comes before that."""

    port: int

    def connect(self, target: Target, limits: Limits) -> AnySocket:
        return connect([ip_address("127.0.0.1")], self.port, limits)


def lead_to(monkeypatch: pytest.MonkeyPatch, service: Service, server: McpServer) -> None:
    """Let every name that ``service`` asks lead to ``server`` during a test."""
    guard = Guard(resolver=lambda *_: [ip_address("93.184.216.34")])
    client = service.outbound
    transport = Rerouting(guard, "Patchbay/tests", client.tls, server.server_address[1])
    monkeypatch.setattr(client, "guard", guard)
    monkeypatch.setattr(client, "_transport", transport)


def play(server: McpServer, url: str, **changes: Any) -> None:
    """Let ``server`` be the one at ``url``, where people sign in at its own origin."""
    parts = urlsplit(url)
    home, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    metadata = {
        "issuer": home,
        "authorization_endpoint": f"{home}/authorize",
        "token_endpoint": f"{home}/token",
        "registration_endpoint": f"{home}/register",
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        **changes,
    }
    about = {"resource": url, "authorization_servers": [home], "scopes_supported": ["use"]}
    server.manner.pages = {
        f"/.well-known/oauth-protected-resource{path}": about,
        "/.well-known/oauth-authorization-server": metadata,
    }
