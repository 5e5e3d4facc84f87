"""A service without agents has none."""

from typing import Any

from webapp.dashboard.client.agents import AgentClient


def test_a_service_that_knows_no_agents(stage: Any) -> None:
    dashboard = stage.app.extensions["patchbay_dashboard"]
    assert AgentClient(dashboard.client, stage.alice.id).apps() is None


def test_the_page_is_not_there_then(stage: Any) -> None:
    browser = stage.signed_in()
    assert browser.get("/agents").status_code == 404
