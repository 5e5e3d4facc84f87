"""The list of triggers: states, filters, counts, the chart, and the switch."""

from typing import Any

import pytest

from tests.dashboard.fake_components import install
from tests.dashboard.trigger.fake_triggers import Watchtower


@pytest.fixture
def watched(stage: Any, tower: Watchtower) -> Watchtower:
    """One trigger of each state, one with a broken address, and somebody else's."""
    install(stage.connect)
    me = stage.alice.id
    stage.connect.add_account(me, "tasks", name="Ada's tasks", dead=True, healthy=False, error="It was revoked.")
    tower.add(me, name="Runs", last_event_at=stage.clock() - 60_000)
    tower.add(me, name="Stands", active=False)
    tower.add(me, name="Off", active=False, switched_off="Its account was disconnected.")
    tower.add(me, name="Waits", waits="Its account needs you.", accounts=[{"prop": "tasks", "id": "apn_000000x"}])
    tower.add(me, id="hi_1x", name="Requests", emitter_type="http", app="http", schedule=None, instant=True)
    tower.add("u_somebody", name="Not yours")
    tower.add_endpoint("dc_000000x", "https://broken.example.com/in", "penalty")
    tower.add_delivery("dc_000000x", "delivered")
    tower.add_delivery("dc_000000x", "failed")
    return tower


def test_the_apps_page_tells_what_waits_for_a_broken_account(stage: Any, watched: Watchtower) -> None:
    assert "It was revoked. 1 trigger waits for it." in stage.signed_in().get("/apps").text


def test_list_says_what_needs_somebody_first(stage: Any, watched: Watchtower) -> None:
    page = stage.signed_in().get("/triggers").text
    order = [page.index(f">{name}</a>") for name in ("Waits", "Off", "Requests", "Stands")]
    assert order == sorted(order)
    for text in (
        "Switched off", "By the system: Its account was disconnected.", "Waits for its account", "Paused", "Active",
        "every 15 minutes", "Ada&#39;s tasks", "1 minute ago", "Retrying: broken.example.com", "5 triggers",
        "1 trigger can’t reach all of its endpoints", "1 of 2 deliveries arrived, 1 failed", "2 need you",
    ):  # fmt: skip
        assert text in page, text
    assert "Not yours" not in page
    assert page.count('role="switch" aria-checked="true"') == 3
    for forbidden in (" style=", " onclick=", "hx-on", "javascript:", "<script>", "js:"):
        assert forbidden not in page


def test_filters_stand_in_the_address_with_true_counts(stage: Any, watched: Watchtower) -> None:
    browser = stage.signed_in()
    page = browser.get("/triggers?status=off").text
    assert ">Off</a>" in page
    assert ">Runs</a>" not in page
    assert '<a class="chip" href="/triggers">All <b>5</b></a>' in page
    part = browser.get("/triggers?app=http&status=nonsense", htmx=True)
    assert "<html" not in part.text
    assert ">Requests</a>" in part.text
    assert "All <b>1</b>" in part.text
    assert part.headers["HX-Push-Url"] == "/triggers?app=http"
    assert "No trigger matches" in browser.get("/triggers?status=paused&app=http").text


def test_empty_and_down_are_different(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    assert "No triggers yet" in browser.get("/triggers").text
    stage.connect.down = True
    answer = browser.get("/triggers")
    assert answer.status_code == 503
    assert "Your triggers can’t be shown right now" in answer.text


def test_one_call_tells_the_last_day_of_every_row(stage: Any, watched: Watchtower) -> None:
    browser = stage.signed_in()
    browser.get("/triggers")
    before = len(stage.connect.seen)
    page = browser.get("/triggers").text
    asked = [path for _, path, *_ in stage.connect.seen[before:] if "trigger" in path]
    assert len(asked) == 2
    stage.connect.extensions = False
    plain = browser.get("/triggers").text
    for text in ("1 of 2 deliveries arrived, 1 failed", "Retrying: broken.example.com"):
        assert text in page and text in plain


def test_long_lists_have_pages(stage: Any, tower: Watchtower) -> None:
    for number in range(130):
        tower.add(stage.alice.id, name=f"Number {number}")
    browser = stage.signed_in()
    page = browser.get("/triggers").text
    assert "1–20 of 130 triggers" in page
    assert 'href="/triggers?page=2"' in page
    assert "121–130 of 130 triggers" in browser.get("/triggers?page=7").text


def test_lists_that_a_limit_counts_are_not_asked_for_again(stage: Any, watched: Watchtower) -> None:
    browser = stage.signed_in()
    browser.get("/triggers")
    before = len(stage.connect.calls("/accounts"))
    for url in ("/triggers", "/triggers/dc_000003x", "/triggers/dc_000003x/news?tab=events&newest=&seen=&rows="):
        browser.get(url)
    assert len(stage.connect.calls("/accounts")) == before
    assert not stage.connect.calls("/components")


def test_the_results_of_a_filter_are_announced(stage: Any, watched: Watchtower) -> None:
    browser = stage.signed_in()
    assert 'data-announce="1 trigger"' in browser.get("/triggers?status=paused", htmx=True).text
    assert 'data-announce="No trigger matches"' in browser.get("/triggers?app=none", htmx=True).text
