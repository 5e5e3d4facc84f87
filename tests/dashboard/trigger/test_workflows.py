"""To which workflows a trigger sends, on its page."""

from typing import Any

import pytest

from tests.dashboard.trigger.fake_triggers import Watchtower
from webapp.dashboard.client.build.workflows import NamedWorkflow, Workflows
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.triggers import TriggerClient
from webapp.people import users

PAGE = "/triggers/dc_000000x/workflows"


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was saved; the project has the workflows p_1 and p_2."""
    saved: list[str] = []
    rows = [
        {"id": f"p_{number}", "name": f"Flow {number}", "url": f"https://{number}.example.com/"} for number in (1, 2)
    ]
    page = PageOf[NamedWorkflow].model_validate({"data": rows})
    monkeypatch.setattr(Workflows, "list", lambda _: page)
    monkeypatch.setattr(TriggerClient, "set_workflows", lambda _, trigger_id, ids: saved.extend([trigger_id, *ids]))
    return saved


def test_they_are_ticked_and_saved(stage: Any, deployed: Watchtower, chosen: list[str]) -> None:
    browser = stage.signed_in()
    assert PAGE in browser.get("/triggers/dc_000000x").text
    page = browser.get(PAGE).text
    assert "Flow 1" in page and "2.example.com" in page and 'value="p_1" checked' not in page
    token = page.partition('name="csrf_token" value="')[2].partition('"')[0]
    answer = browser.client.post(PAGE, data={"csrf_token": token, "workflow": ["p_2", "p_9"]})
    assert answer.status_code == 303 and chosen == ["dc_000000x", "p_2"]
    assert "The workflows are saved." in browser.get("/triggers/dc_000000x").text


def test_without_any_the_way_to_the_first_is_shown(
    stage: Any, deployed: Watchtower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workflows, "list", lambda _: PageOf[NamedWorkflow]())
    assert "The project has no workflow yet." in stage.signed_in().get(PAGE).text
    monkeypatch.setattr(Workflows, "list", lambda _: None)
    assert stage.signed_in().get(PAGE).status_code == 404


def test_to_members_it_is_not_there(stage: Any, deployed: Watchtower, chosen: list[str]) -> None:
    browser = stage.signed_in()
    with stage.store.write() as tx:
        olga = users.prepare(stage.clock, email="olga@example.com", password="a long password", role="owner")
        users.insert(tx, olga)
        users.set_role(tx, stage.clock(), stage.alice, "member")
    assert browser.get(PAGE).status_code == browser.send(PAGE, {"workflow": "p_1"}).status_code == 404
    assert PAGE not in browser.get("/triggers/dc_000000x").text and chosen == []
