"""Whom an agent works for, as its token and its headers say."""

from typing import Any

from tests.service.mcp.conftest import Agent
from webapp.kit.cursors import Window
from webapp.people import users
from webapp.people.agents import clients, grants, tokens
from webapp.people.agents.grants import Consent
from webapp.service.domain.components import runs

VERIFIER, CHALLENGE = "v" * 43, "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"


def test_a_token_works_for_its_user_project_and_scope_alone(world: Any) -> None:
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
