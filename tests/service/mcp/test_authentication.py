"""Whom an agent works for, as its token and its headers say; which pages may speak for it; and where a client learns
how to sign in (RFC 9728).
"""

from dataclasses import replace
from typing import Any

import pytest

from tests.service.mcp.conftest import Agent
from webapp.kit.clock import HOUR
from webapp.kit.cursors import Window
from webapp.people import users
from webapp.people.agents import clients, grants, tokens
from webapp.people.agents.grants import Consent
from webapp.service.domain.components import runs
from webapp.service.mcp import authentication

VERIFIER, CHALLENGE = "v" * 43, "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
HOST, EVIL = "https://agent.example", "https://evil.example"


def test_a_token_works_for_its_user_project_and_scope_only(world: Any) -> None:
    agent = world.agent()
    for header, value, status in (
        ("x-pd-external-user-id", "bob", 403),
        ("x-pd-environment", "production", 403),
        ("x-pd-project-id", "proj_other", 400),
    ):
        assert agent.send("tools/list", **{header: value}).status_code == status
    assert world.server_agent(scope="connect:accounts:read").send("tools/list").status_code == 403
    server = world.server_agent()
    for header in ("x-pd-project-id", "x-pd-environment", "x-pd-external-user-id"):
        left = {name: value for name, value in server.headers.items() if name != header}
        refused = Agent(world.http, left).post("ping")
        assert refused.status_code == 400 and header in refused.get_json()["error"]["message"]


def test_several_apps_are_named_by_any_of_their_names(world: Any) -> None:
    app = world.service.catalog.app("tinyoauth")
    tools = world.agent(apps=f"tinykeys, {app.id},tinykeys").tools()
    assert "make_task" in tools and "search_tools" not in tools


def test_an_agent_that_a_person_let_in_works_for_that_person_whatever_it_says(world: Any) -> None:
    store, clock = world.service.store, world.clock
    ada = users.create(store, clock, email="ada@example.com", password="a long password", role="owner")
    client = clients.register(store, clock, name="Desk Helper", redirect_uris=("http://localhost/",))
    consent = Consent(client, ada.id, world.scene.project_id, "development", "http://localhost/", CHALLENGE)
    code = grants.begin(store, clock(), consent)
    pair = tokens.exchange_code(store, clock(), code=code, client_id=client.id, redirect_uri=None, verifier=VERIFIER)
    assert pair is not None
    agent = Agent(world.http, {"Authorization": f"Bearer {pair.access}", "x-pd-external-user-id": "alice"})
    agent.call("every_type", number=3)
    (run,) = runs.page(store, world.scene, runs.Filter(), Window()).items
    assert (run.external_id, run.agent) == (ada.id, "Desk Helper")
    assert Agent(world.http, {"Authorization": "Bearer mcpa_unknown"}).post("ping").status_code == 401


@pytest.fixture
def signed_in(world: Any) -> Agent:
    """A page of the host, for which Ada signed in."""
    store, now = world.service.store, world.clock()
    ada = users.create(store, world.clock, email="ada@example.com", password="a long password", role="owner")
    client = clients.register(store, world.clock, name="Desk Helper", redirect_uris=(f"{HOST}/back", f"{EVIL}/back"))
    consent = Consent(client, ada.id, world.scene.project_id, world.scene.environment, f"{HOST}/back", CHALLENGE)
    code = grants.begin(store, now, consent)
    pair = tokens.exchange_code(store, now, code=code, client_id=client.id, redirect_uri=None, verifier=VERIFIER)
    assert pair is not None
    return Agent(world.http, {"Authorization": f"Bearer {pair.access}"})


def test_a_sign_in_serves_pages_of_where_it_led_back_to(world: Any, signed_in: Agent) -> None:
    for origin, status in ((HOST, 200), (EVIL, 403), (f"{HOST}:8443", 403), ("null", 403)):
        answer = signed_in.post("ping", Origin=origin)
        assert answer.status_code == status, origin
        assert answer.headers.get("Access-Control-Allow-Origin") == (origin if status == 200 else None)
    world.clock.advance(2 * HOUR)
    over = signed_in.post("ping", Origin=HOST)
    assert (over.status_code, over.headers["Access-Control-Allow-Origin"]) == (401, HOST)


def test_a_page_without_a_token_reads_where_to_sign_in_and_nothing_else(world: Any) -> None:
    stranger = Agent(world.http, {})
    answer = stranger.post("ping", Origin=HOST)
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (401, HOST)
    assert "WWW-Authenticate" in answer.headers["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in answer.headers
    closed = stranger.post("ping", Origin="null")
    assert closed.status_code == 403 and "Access-Control-Allow-Origin" not in closed.headers


def test_everyone_may_ask_beforehand_and_read_the_metadata(world: Any) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "mcp-protocol-version"}
    for path in ("/mcp", "/.well-known/oauth-protected-resource/mcp"):
        allowed = world.http.options(path, headers={"Origin": HOST, **asked})
        assert (allowed.status_code, allowed.headers["Access-Control-Allow-Origin"]) == (204, HOST)
        assert "mcp-protocol-version" in allowed.headers["Access-Control-Allow-Headers"]
        assert world.http.options(path, headers={"Origin": "null", **asked}).status_code == 403
    shown = world.http.get("/.well-known/oauth-protected-resource/mcp", headers={"Origin": HOST})
    assert shown.headers["Access-Control-Allow-Origin"] == HOST


def test_without_a_token_a_client_learns_where_to_sign_in(world: Any) -> None:
    answer = world.http.post("/mcp", json={})
    address = f"{world.service.settings.public_url}/.well-known/oauth-protected-resource/mcp"
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, f'Bearer resource_metadata="{address}"')
    wrong = world.http.post("/mcp", json={}, headers={"Authorization": "Bearer nonsense"})
    assert wrong.status_code == 401 and 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        shown = world.http.get(path).get_json()
        assert shown["resource"] == f"{world.service.settings.public_url}/mcp"


def test_where_nobody_signs_in_no_server_is_named(world: Any) -> None:
    settings = world.service.settings
    home = settings.public_url
    assert authentication.resource(world.service)["authorization_servers"] == [f"{home}/mcp/oauth"]
    elsewhere = replace(world.service, settings=replace(settings, connect_url="https://connect.example"))
    assert "authorization_servers" not in authentication.resource(elsewhere)
