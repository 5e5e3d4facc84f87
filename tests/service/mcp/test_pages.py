"""Agents that are pages: each token works where it was handed to, and everyone may read how to sign in."""

from typing import Any

import pytest

from tests.service.mcp.conftest import Agent
from webapp.kit.clock import HOUR
from webapp.people import users
from webapp.people.agents import clients, grants, tokens
from webapp.people.agents.grants import Consent

HOST, EVIL = "https://agent.example", "https://evil.example"
VERIFIER, CHALLENGE = "v" * 43, "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"


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
