"""Where people sign in to an MCP server, and which of the things that a server may say about it are not believed."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.fakes.mcp_server import McpServer, serving
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.mcp_sign_in import McpSignIn, RegisteredClient, discover, register

RESOURCE, ISSUER = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"


@pytest.fixture
def server() -> Iterator[McpServer]:
    with serving(key="right") as started:
        started.sign_in()
        yield started


def outbound(*servers: McpServer) -> OutboundClient:
    return OutboundClient(Guard([server.host for server in servers]), user_agent="Patchbay-Test")


def signed(server: McpServer, challenge: str = "", *others: McpServer) -> McpSignIn:
    outcome = discover(outbound(server, *others), server.url, challenge)
    assert isinstance(outcome, McpSignIn), outcome
    return outcome


def refused(server: McpServer, *others: McpServer) -> str:
    outcome = discover(outbound(server, *others), server.url)
    assert isinstance(outcome, Failure), outcome
    return outcome.sentence


def test_a_server_says_where_people_sign_in(server: McpServer) -> None:
    home = f"http://{server.host}"
    assert signed(server) == McpSignIn(
        server.url, home, f"{home}/authorize", f"{home}/token", "", f"{home}/register", False, ("notes",), "none"
    )


def test_the_refusal_says_more(server: McpServer) -> None:
    server.manner.pages["/about"] = server.manner.pages.pop(RESOURCE)
    challenge = f'Bearer error="x", resource_metadata="http://{server.host}/about", scope="read write"'
    assert signed(server, challenge).scopes == ("read", "write")


def test_metadata_at_another_host_is_not_asked_for(server: McpServer) -> None:
    with serving() as other:
        challenge = f'Bearer resource_metadata="{other.url}"'
        assert signed(server, challenge, other).resource == server.url
        assert other.asked == []


def test_a_server_may_be_a_part_of_what_tokens_are_for(server: McpServer) -> None:
    whole = f"http://{server.host}"
    server.manner.pages[RESOURCE]["resource"] = whole
    assert signed(server).resource == whole


def test_a_server_of_an_earlier_revision_is_its_own_issuer(server: McpServer) -> None:
    del server.manner.pages[RESOURCE]
    assert signed(server).resource == server.url
    assert signed(server).scopes == ()


@pytest.mark.parametrize(
    "resource", ["https://mcp.other.example/mcp", "/mcp", "", "{home}/mcp2", "{home}:1/mcp", "{home}/m"]
)
def test_metadata_about_another_server_is_refused(server: McpServer, resource: str) -> None:
    server.manner.pages[RESOURCE]["resource"] = resource.format(home=f"http://{server.host}")
    assert "says that it is another one" in refused(server)


def test_metadata_of_another_issuer_is_refused(server: McpServer) -> None:
    server.manner.pages[ISSUER]["issuer"] = "https://login.honest.example"
    assert "does not say where people sign in" in refused(server)


@pytest.mark.parametrize("name", ["token_endpoint", "registration_endpoint", "revocation_endpoint"])
@pytest.mark.parametrize("host", ["https://evil.example", "http://127.0.0.2:1", "https://127.0.0.1.evil.example"])
def test_secrets_go_to_no_other_domain_than_the_issuers(server: McpServer, name: str, host: str) -> None:
    server.manner.pages[ISSUER][name] = f"{host}/x"
    assert f"127.0.0.1 sends secrets to {host.split('/')[2].split(':')[0]}, so none is sent." == refused(server)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE with S256"),
        ({"code_challenge_methods_supported": None}, "PKCE with S256"),
        ({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}, "a way that is not known here"),
        ({"token_endpoint": None}, "where people sign in"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "where people sign in"),
        ({"authorization_endpoint": ["x"]}, "where people sign in"),
    ],
)
def test_a_sign_in_that_is_not_safe_is_refused(server: McpServer, changes: Any, sentence: str) -> None:
    server.manner.pages[ISSUER] |= changes
    assert sentence in refused(server)


@pytest.mark.parametrize(
    ("address", "issuer", "related"),
    [
        ("https://api.vercel.example/token", "https://vercel.example", True),
        ("https://vercel.example/token", "https://login.vercel.example", True),
        ("https://a.vercel.example/token", "https://b.vercel.example", False),
        ("https://evilvercel.example/token", "https://vercel.example", False),
        ("https://example/token", "https://vercel.example", False),
    ],
)
def test_hosts_of_one_domain_are_one_providers(address: str, issuer: str, related: bool) -> None:
    from webapp.service.outbound import mcp_sign_in

    assert mcp_sign_in._is_related(address, issuer) is related


def test_addresses_that_may_not_be_reached_are_not(server: McpServer) -> None:
    server.manner.pages[RESOURCE]["authorization_servers"] = ["http://10.0.0.1"]
    assert "not on the public internet" in refused(server)


def test_too_much_is_not_read(server: McpServer) -> None:
    server.manner.pages[ISSUER]["more"] = "x" * 300_000
    assert "too much to be read" in refused(server)


def test_a_client_is_registered(server: McpServer) -> None:
    sign_in = signed(server)
    registered = register(outbound(server), sign_in, redirect_uri="https://p.example/cb", home="https://p.example")
    assert registered == RegisteredClient("client-1", None, "none")
    (request,) = server.registered
    assert (request["redirect_uris"], request["scope"]) == (["https://p.example/cb"], "notes")
    assert request["grant_types"] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize(
    ("answer", "client"),
    [
        ({"client_id": "a", "client_secret": "s"}, RegisteredClient("a", None, "none")),
        (
            {"client_id": "a", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post"},
            RegisteredClient("a", "s", "client_secret_post"),
        ),
        ({"client_id": "a", "token_endpoint_auth_method": "client_secret_post"}, None),
        ({"client_id": "a", "token_endpoint_auth_method": "tls_client_auth"}, None),
        ({"client_id": ""}, None),
        ({"client_id": "a\nb"}, None),
        ({"client_id": 7}, None),
        (["client"], None),
        ({"error": "invalid_client_metadata"}, None),
    ],
)
def test_only_a_client_that_can_be_used_is_taken(
    server: McpServer, answer: Any, client: RegisteredClient | None
) -> None:
    server.manner.client = answer
    outcome = register(outbound(server), signed(server), redirect_uri="https://p.example/cb", home="https://p.example")
    assert outcome == client if client else isinstance(outcome, Failure)


def test_a_registration_is_not_redirected(peer: Callable[..., Any]) -> None:
    away = peer(b"HTTP/1.1 307 Away\r\nLocation: http://127.0.0.1:1/register\r\nContent-Length: 0\r\n\r\n")
    client = OutboundClient(Guard([f"127.0.0.1:{away.port}"]), user_agent="Patchbay-Test")
    sign_in = McpSignIn(away.url, away.url, f"{away.url}/a", f"{away.url}/t", "", f"{away.url}/register")
    outcome = register(client, sign_in, redirect_uri="https://p.example/cb", home="https://p.example")
    assert outcome == Failure("bad_response", "The server registered no client (status 307).")
