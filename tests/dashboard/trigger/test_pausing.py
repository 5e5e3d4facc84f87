"""The switch of a trigger, and what stands around it once it was pressed."""

from typing import Any

import pytest

from tests.dashboard.fake_components import install
from tests.dashboard.trigger.fake_triggers import Watchtower


@pytest.fixture
def watched(stage: Any, tower: Watchtower) -> Watchtower:
    """Two triggers, one of them paused, and somebody else's."""
    install(stage.connect)
    tower.add(stage.alice.id, name="Runs")
    tower.add(stage.alice.id, name="Stands", active=False)
    tower.add("u_somebody", name="Not yours")
    return tower


@pytest.mark.parametrize("htmx", [True, False])
def test_pause_and_resume(stage: Any, watched: Watchtower, htmx: bool) -> None:
    browser = stage.signed_in()
    answer = browser.send("/triggers/dc_000000x/pause", htmx=htmx)
    assert watched.updates == [{"active": False}]
    if htmx:
        assert 'aria-checked="false"' in answer.text
        assert 'hx-delete="/triggers/dc_000000x/pause"' in answer.text
        assert "is paused; nothing is sent." in answer.text
    else:
        assert answer.status_code == 303
    browser.send("/triggers/dc_000000x/pause", {"resume": "1"}, htmx=htmx)
    assert watched.updates[-1] == {"active": True}
    watched.refusal = (409, "Tasks did not take the subscription back.")
    refused = browser.send("/triggers/dc_000000x/pause", htmx=True).text
    assert 'aria-checked="true"' in refused  # as it is, not as it was wished
    assert "could not be paused. Tasks did not take the subscription back." in refused
    assert browser.send("/triggers/dc_000002x/pause").status_code == 404


def test_resume_is_delete(stage: Any, watched: Watchtower) -> None:
    browser = stage.signed_in()
    token = browser.get("/settings").text.split('X-CSRFToken": "')[1].split('"')[0]
    headers = {"HX-Request": "true", "HX-Request-Type": "partial"}
    assert browser.client.delete("/triggers/dc_000001x/pause", headers=headers).status_code == 400
    answer = browser.client.delete("/triggers/dc_000001x/pause", headers=headers | {"X-CSRFToken": token})
    assert answer.status_code == 200
    assert watched.updates == [{"active": True}]


def test_the_page_of_one_trigger_says_at_once_how_it_is(stage: Any, watched: Watchtower) -> None:
    browser = stage.signed_in()
    assert 'hx-post="/triggers/dc_000000x/pause?whole=1"' in browser.get("/triggers/dc_000000x").text
    paused = browser.send("/triggers/dc_000000x/pause?whole=1", htmx=True).text
    assert 'hx-target="#strip"' in paused and 'hx-target="#banners"' in paused
    assert "<b>Paused.</b>" in paused and "Not while it stands still" in paused
    assert 'hx-delete="/triggers/dc_000000x/pause?whole=1"' in paused
    in_list = browser.send("/triggers/dc_000000x/pause", {"resume": "1"}, htmx=True).text
    assert 'hx-target="#state-dc_000000x"' in in_list and "#strip" not in in_list
