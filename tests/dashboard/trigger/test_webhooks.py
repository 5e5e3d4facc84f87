"""Webhook URLs of a trigger: added and removed, started again; their keys for those who may see them, and only then.

To which workflows a trigger sends, on its page.
"""

import re
from typing import Any

import pytest

from tests.dashboard.conftest import PASSWORD
from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL
from webapp.dashboard.client.build.workflows import NamedWorkflow, Workflows
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.client.triggers import TriggerClient
from webapp.people import users

HOOK = "wh_000x"
PAGE = "/triggers/dc_000000x/workflows"


@pytest.fixture
def tower(stage: Any, tower: Watchtower) -> Watchtower:
    """A trigger with one address that was given up."""
    tower.add(stage.alice.id, name="New task")
    tower.add_endpoint(ID, "https://hooks.example.com/in", "deactivated")
    return tower


@pytest.mark.parametrize("htmx", [True, False])
def test_add(stage: Any, tower: Watchtower, htmx: bool) -> None:
    browser = stage.signed_in()
    answer = browser.send(f"{URL}/webhooks", {"url": "https://two.example.com/"}, htmx=htmx)
    assert answer.status_code == (200 if htmx else 303)
    assert [one["url"] for one in tower.endpoints[ID]] == ["https://hooks.example.com/in", "https://two.example.com/"]
    assert tower.endpoints[ID][0]["key"] == "whsec_canary0"  # what stays keeps its key
    for wrong in ("two.example.com", "https://two.example.com/", "https://refused.example.com/"):
        refused = browser.send(f"{URL}/webhooks", {"url": wrong}, htmx=htmx)
        assert refused.status_code == 422
        assert 'aria-invalid="true"' in refused.text
        assert f'value="{wrong}"' in refused.text
        assert "is not valid:" not in refused.text
    assert len(tower.endpoints[ID]) == 2


def test_remove_after_a_question(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    assert "its signing key is deleted" in browser.get(f"{URL}/webhooks/{HOOK}/removal").text
    assert browser.send(f"{URL}/webhooks/{HOOK}/removal").status_code == 303
    assert tower.endpoints[ID] == []
    assert browser.get(f"{URL}/webhooks/{HOOK}/removal").status_code == 404


def test_reset_delivers_again(stage: Any, tower: Watchtower) -> None:
    part = stage.signed_in().send(f"{URL}/webhooks/{HOOK}/reset", htmx=True).text
    assert "resume." in part
    assert "Working" in part
    assert 'hx-target="#strip"' in part and 'hx-target="#banners"' in part


@pytest.mark.parametrize("htmx", [True, False])
def test_key_is_shown_when_asked_for(stage: Any, tower: Watchtower, htmx: bool) -> None:
    browser = stage.signed_in()
    assert "whsec_" not in browser.get(URL).text
    shown = browser.send(f"{URL}/webhooks/{HOOK}/key", htmx=htmx).text
    assert "whsec_canary0" in shown
    assert "whsec_" not in browser.get(URL).text


def test_new_key_is_shown_once(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    assert "signed with the new key" in browser.get(f"{URL}/webhooks/{HOOK}/rotation").text
    assert browser.send(f"{URL}/webhooks/{HOOK}/rotation").status_code == 303
    assert "whsec_fresh" in browser.get(URL).text
    assert "whsec_" not in browser.get(URL).text


def test_members_get_no_key(stage: Any, tower: Watchtower) -> None:
    bob = users.create(stage.store, stage.clock, email="bob@example.com", password=PASSWORD, role="member")
    tower.triggers[ID]["user"] = bob.id
    browser = stage.signed_in("bob@example.com")
    shown = browser.get(URL).text
    assert "Reveal" not in shown
    assert "https://hooks.example.com/…" in shown and "hooks.example.com/in" not in shown, "nothing beyond the host"
    assert "hooks.example.com/in" not in browser.get(f"{URL}/webhooks/{HOOK}/removal").text
    for path in ("key", "rotation"):
        assert browser.send(f"{URL}/webhooks/{HOOK}/{path}").status_code == 403
    by_oauth = [path for _, path, token, _ in stage.connect.seen if token in stage.connect.oauth]
    assert not [path for path in by_oauth if re.search("/webhooks/", path)]


def test_oauth_reads_no_key_of_somebody_else(stage: Any, tower: Watchtower) -> None:
    tower.triggers[ID]["user"] = "u_somebody"
    assert stage.signed_in().send(f"{URL}/webhooks/{HOOK}/key").status_code == 404
    assert not [path for _, path, token, _ in stage.connect.seen if token in stage.connect.oauth and "hooks" in path]


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
