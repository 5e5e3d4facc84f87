"""New rows announce themselves on a trigger's page, and what has changed around them is drawn anew."""

from typing import Any

from tests.dashboard.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL, news_url


def test_new_rows_announce_themselves(stage: Any, deployed: Watchtower) -> None:
    browser = stage.signed_in()
    url = news_url(browser.get(URL).text)
    assert browser.get(url, htmx=True).status_code == 204
    for number in range(3):
        deployed.add_event(ID, number, f"Number {number}")
    part = browser.get(url, htmx=True).text
    assert f'href="{URL}"' in part
    assert "Show 3 new events" in part
    assert "Number 2" not in part  # rows never come by themselves
    assert browser.get(news_url(part), htmx=True).status_code == 204
    deployed.endpoints[ID][0]["delivery_state"]["state"] = "penalty"
    part = browser.get(news_url(part), htmx=True).text
    assert "Retrying" in part
    assert "Show 3 new events" not in part  # it stands there already and stays as it is
    stage.connect.down = True
    assert browser.get(news_url(part), htmx=True).status_code == 204
    stage.connect.down = False
    del deployed.triggers[ID]
    gone = browser.get(news_url(part), htmx=True).text
    assert "This trigger is gone." in gone
    assert "hx-trigger" not in gone


def test_news_lead_nowhere_else(stage: Any, deployed: Watchtower) -> None:
    part = stage.signed_in().get(f"{URL}/news?tab=events&newest=evt_0&seen=&rows=https://evil.example/", htmx=True).text
    assert "evil.example" not in part
