"""What stands around a portal's pages: the tabs that its token admits, and apps that can be connected besides."""

import json
from typing import Any

import pytest

from tests.service.domain.agents.planted import plant_agent, plant_approval


@pytest.mark.parametrize(
    ("scope", "tabs"),
    [
        ("connect:*", ["Accounts", "Triggers", "Logs", "Agents"]),
        ("connect:accounts:read", ["Accounts", "Logs"]),
        ("connect:deployed_triggers:read", ["Triggers", "Logs"]),
        ("connect:agents:read", ["Logs", "Agents"]),
    ],
)
def test_the_tabs_are_those_of_the_scope(world: Any, scope: str, tabs: list[str]) -> None:
    page = world.portal(scope=scope).get("/apps").text.partition("portal-tabs")[2].partition("</nav>")[0]
    assert [label for label in ("Accounts", "Triggers", "Logs", "Agents") if f"> {label} " in page] == tabs


def test_the_tab_of_agents_counts_what_waits(world: Any) -> None:
    agent = plant_agent(world.service, world.scene, "alice")
    plant_approval(world.service, world.scene, agent)
    tab = world.portal().get("/logs").text.partition("portal-tabs")[2].partition("</nav>")[0].partition("Agents")[2]
    assert '<span class="n">1</span>' in tab


def test_the_first_visit_says_what_it_is_for(world: Any) -> None:
    page = world.portal().get("/accounts").text
    assert "Connect the tools you use already" in page and "Choose an app" in page


def test_what_has_to_be_set_up_first_is_left_out(world: Any) -> None:
    page = world.portal().get("/apps").text
    assert "Ready to connect" in page and "Needs setup" not in page


def test_an_app_that_is_not_set_up_names_the_product_and_no_login(world: Any) -> None:
    page = world.portal().get("/apps/github").text
    assert "Acme can set it up, once for everybody." in page


def test_a_product_without_a_name_shows_nobody_the_form_that_sets_an_app_up(world: Any) -> None:
    portal = world.portal()
    with world.service.store.write() as tx:
        ((facts,),) = tx.tuples("SELECT facts FROM portal_sessions")
        nameless = json.dumps(json.loads(facts) | {"project_app_name": ""})
        tx.run("UPDATE portal_sessions SET facts = :facts", {"facts": nameless})
    page = portal.get("/apps/github").text
    assert "An owner can set it up, once for everybody." in page and "client_secret" not in page


def test_how_actions_were_made_is_left_out(world: Any) -> None:
    page = world.portal().get("/apps/http/actions/http-send-request").text
    assert "<h1" in page and "Not checked by machine" not in page


def test_the_addresses_of_lists_and_forms_stay_in_the_portal(world: Any) -> None:
    portal = world.portal()
    for path in ("/apps?q=task", "/accounts", "/triggers", "/apps/schedule/triggers/schedule-cron"):
        page = portal.get(path).text
        own = [part.split('"')[0] for part in page.replace("action=", "href=").split('href="')[1:]]
        strays = [url for url in own if url.startswith("/") and not url.startswith((portal.base, "/static/"))]
        assert strays == [], path
