"""Servers that providers host are connected without anybody's work: one strict server plays each of those declared."""

import tomllib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.fakes.hosted_servers import lead_to, play
from tests.fakes.mcp_server import McpServer, serving
from webapp.service.catalog.app import App
from webapp.service.catalog.sources import Places, read
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.failures import ProviderDown
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import hosted_servers, mcp_servers
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound import mcp_sign_in
from webapp.service.outbound.mcp_sign_in import McpSignIn
from webapp.service.outbound.oauth import TokenResult
from webapp.service.outbound.probe import mcp_client

SERVERS = {source.spec.slug: source.spec for source in read(Places()).apps if source.spec.mcp}


@pytest.fixture
def server() -> Iterator[McpServer]:
    with serving(key="right") as started:
        yield started


@pytest.fixture
def reaching(monkeypatch: pytest.MonkeyPatch, service: Service, server: McpServer) -> Service:
    """A service for which every name leads to ``server``."""
    lead_to(monkeypatch, service, server)
    return service


def test_each_is_listed_and_asked_at_its_address(reaching: Service, server: McpServer) -> None:
    for slug, spec in SERVERS.items():
        app, facts = reaching.app(slug), spec.mcp
        assert facts is not None
        assert (app.server, app.actions, app.spec.docs_url) == (facts.way, 0, facts.source)
        assert app.ready(frozenset()) is (facts.way in ("registers", "key"))
        if facts.beside:
            assert app in reaching.catalog.ways(reaching.app(facts.beside))
        if app.mcp_request is None:
            assert facts.way == "none"
            continue
        assert app.mcp_request.url == facts.url
        values = dict.fromkeys(("token", "api_key", "oauth_access_token"), "right")
        asker: Any = mcp_client(reaching.client_for(app), app.mcp_request, values)
        server.manner.key, seen = "" if facts.header else "right", len(server.asked)
        asker.begin()
        asked = server.asked[seen]
        assert (asked.method, asked.path) == ("POST", urlsplit(facts.url).path)
        assert asked.headers["host"] == urlsplit(facts.url).netloc
        assert asked.headers[facts.header or "authorization"] == ("right" if facts.header else "Bearer right")


def test_where_people_sign_in_is_asked_of_each(reaching: Service, server: McpServer) -> None:
    signed_in = [spec.mcp for spec in SERVERS.values() if spec.mcp and spec.oauth]
    assert len(signed_in) > 30
    for facts in signed_in:
        play(server, facts.url)
        seen = len(server.asked)
        found = mcp_sign_in.discover(reaching.outbound, facts.url)
        assert isinstance(found, McpSignIn)
        assert found.resource == facts.url
        path = urlsplit(facts.url).path.rstrip("/")
        assert server.asked[seen].path == f"/.well-known/oauth-protected-resource{path}"


def connected(service: Service, scene: Scene, app: App, token: str = "right") -> Account:
    """An account of ``app`` that somebody has just connected."""
    made = connect_tokens.create(service, scene, connect_tokens.TokenRequest("alice"), client_id=None)
    by = connect_tokens.verify(service, made["token"])
    if app.auth_type == "keys":
        return connections.connect_with_keys(service, by, app, {app.spec.fields[0].name: token})
    client = oauth_apps.choose(service.store, scene.project_id, app.slug)
    assert client is not None
    grant = TokenResult(token, None, None, None, "bearer", {})
    return connections.connect_with_grant(
        service, by, app, client, grant, requested=(), profile=None, fields={}, account_id=None
    )


def test_the_first_person_who_signs_in_is_all_that_it_takes(reaching: Service, server: McpServer, scene: Scene) -> None:
    """A client is registered once, the tools are there after the sign-in, and everything looks as declared."""
    play(server, "https://mcp.linear.app/mcp")
    app = hosted_servers.prepared(reaching, reaching.app("linear_mcp"))
    assert len(server.registered) == 1
    assert app.provider("c", None).authorize_url == "https://mcp.linear.app/authorize"
    assert app.oauth is not None and app.oauth.token_params == {"resource": "https://mcp.linear.app/mcp"}
    assert hosted_servers.prepared(reaching, app) is app
    hosted_servers.read_tools(reaching, connected(reaching, scene, app))
    app = reaching.app("linear_mcp")
    assert (app.name, app.actions, app.server) == ("Linear (MCP)", 2, "registers")
    assert reaching.catalog.keys("linear_mcp") == ["linear_mcp-erase", "linear_mcp-search-notes"]
    assert len(server.registered) == 1
    action = reaching.settings.data / "apps" / "linear_mcp" / "actions" / "search-notes.toml"
    assert tomllib.loads(action.read_text("utf-8"))["tool"]["goes_on"] is True
    seen = len(server.asked)
    hosted_servers.read_tools(reaching, connected(reaching, scene, app))
    assert "tools/list" not in [each.message["method"] for each in server.asked[seen:] if each.message]


def test_a_key_is_all_that_it_takes(reaching: Service, server: McpServer, scene: Scene) -> None:
    server.manner.key = ""
    hosted_servers.read_tools(reaching, connected(reaching, scene, reaching.app("exa")))
    app = reaching.app("exa")
    assert (app.auth_type, app.actions, [field.name for field in app.spec.fields]) == ("keys", 2, ["api_key"])


def test_a_server_that_is_away_is_said_and_asked_again(reaching: Service, server: McpServer, scene: Scene) -> None:
    with pytest.raises(ProviderDown, match=r"Linear \(MCP\) does not say right now where people sign in"):
        hosted_servers.prepared(reaching, reaching.app("linear_mcp"))
    assert not reaching.app("linear_mcp").own
    server.manner.key = ""
    account = connected(reaching, scene, reaching.app("exa"))
    server.manner.results = {"tools/list": {"code": -32603, "message": "Later"}}
    hosted_servers.read_tools(reaching, account)
    assert reaching.app("exa").actions == 0
    server.manner.results = {}
    hosted_servers.read_tools(reaching, account)
    assert reaching.app("exa").actions == 2


def test_nobody_waits_for_the_answer_that_somebody_else_waits_for(
    reaching: Service, server: McpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the server answers one person, another may be done with it; the client is registered once."""
    play(server, "https://mcp.linear.app/mcp")
    ask, seen = mcp_servers.ask, list[App]()

    def ask_slowly(*given: Any) -> Any:
        answered = ask(*given)
        monkeypatch.setattr(mcp_servers, "ask", ask)
        seen.append(hosted_servers.prepared(reaching, reaching.app("linear_mcp")))
        return answered

    monkeypatch.setattr(mcp_servers, "ask", ask_slowly)
    app = hosted_servers.prepared(reaching, reaching.app("linear_mcp"))
    assert [app.own, *(each.own for each in seen)] == [True, True]
    assert len(server.registered) == len(oauth_apps.self_registered(reaching.store, "linear_mcp")) == 1
