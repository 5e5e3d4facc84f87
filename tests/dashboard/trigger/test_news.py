"""What has changed around the lists of a trigger's page is drawn anew, and what is new in them announces itself."""

import re
from html import unescape
from typing import Any

from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL, news_url


def frame_news_url(page: str) -> str:
    found = re.search(r'id="frame-news" hx-get="([^"]+)"', page)
    assert found, page
    return unescape(found[1])


def test_new_rows_announce_themselves(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    url = news_url(browser.get(URL).text)
    assert browser.get(url, htmx=True).status_code == 204
    for number in range(3):
        stage.clock.advance(1_000)
        deployed.add_event(ID, number, f"Number {number}")
    part = browser.get(url, htmx=True).text
    assert f'href="{URL}"' in part
    assert "Show 3 new entries" in part
    assert "Number 2" not in part  # rows never come by themselves
    assert browser.get(news_url(part), htmx=True).status_code == 204
    stage.connect.down = True
    assert browser.get(url, htmx=True).status_code == 204, "the page stays as it is"


def test_what_has_changed_around_the_lists_is_drawn_anew(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    url = frame_news_url(browser.get(f"{URL}/configuration").text)
    assert browser.get(url, htmx=True).status_code == 204
    deployed.endpoints[ID][0]["delivery_state"]["state"] = "penalty"
    part = browser.get(url, htmx=True).text
    assert "Retrying" in part and 'hx-target="#strip"' in part
    url = frame_news_url(part)
    assert browser.get(url, htmx=True).status_code == 204
    deployed.triggers[ID]["next_run_at"] += 60_000
    part = browser.get(url, htmx=True).text
    assert 'hx-target="#next-run"' in part and "#strip" not in part, "what says the same stays as it is"
    stage.connect.down = True
    assert browser.get(url, htmx=True).status_code == 204
    stage.connect.down = False
    del deployed.triggers[ID]
    gone = browser.get(url, htmx=True).text
    assert "This trigger no longer exists." in gone
    assert "hx-trigger" not in gone


def test_polls_that_found_nothing_are_no_news(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    deployed.add_run(ID)
    url = news_url(browser.get(f"{URL}/logs").text)
    stage.clock.advance(60_000)
    deployed.runs[ID].insert(0, deployed.add_run(ID) | {"id": "tr_quiet", "at": stage.clock()})
    assert browser.get(url, htmx=True).status_code == 204
    deployed.add_event(ID, 1, "New task: Row")
    assert "Show 1 new entry" in browser.get(url, htmx=True).text
