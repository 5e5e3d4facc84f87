"""New rows announce themselves on a trigger's page, and what has changed around them is drawn anew."""

from typing import Any
from urllib.parse import parse_qs

from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL, news_url
from webapp.dashboard.client.models.triggers import Event, Trigger
from webapp.dashboard.trigger import news
from webapp.dashboard.trigger.frame import Frame


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
    assert "This trigger no longer exists." in gone
    assert "hx-trigger" not in gone


def test_news_lead_nowhere_else(stage: Any, deployed: Watchtower) -> None:
    part = stage.signed_in().get(f"{URL}/news?tab=events&newest=evt_0&seen=&rows=https://evil.example/", htmx=True).text
    assert "evil.example" not in part


ROWS = [Event(id=f"evt_{number}") for number in range(40, 0, -1)]


def test_rows_above_the_one_that_stood_on_top_are_new(stage: Any) -> None:
    frame = Frame(Trigger(id=ID), None, (), (), (), None)
    for tab, newest, count, words in (
        ("events", None, 0, "0 new events"),
        ("events", "evt_39", 1, "1 new event"),
        ("deliveries", "evt_37", 3, "3 new deliveries"),
        ("logs", "evt_39", 1, "1 new run"),
        ("events", "evt_gone", 40, "40 or more new events"),
        ("deliveries", "evt_gone", 40, "40 or more new deliveries"),
        ("logs", "evt_gone", 40, "40 or more new runs"),
    ):
        with stage.request():
            told = news.since(frame, tab, ROWS, rows_url=URL, newest=newest)
        assert (told.count, told.words, told.rows_url) == (count, words, URL)
        query = parse_qs(told.url.partition("?")[2])
        assert (query["newest"], query["shown"]) == ([newest or "evt_40"], [str(count)])


def test_a_whole_short_list_of_new_rows_is_counted_exactly(stage: Any) -> None:
    frame = Frame(Trigger(id=ID), None, (), (), (), None)
    with stage.request():
        assert news.since(frame, "events", ROWS[:29], rows_url=URL, newest="evt_gone").words == "29 new events"
        assert news.since(frame, "events", ROWS[:30], rows_url=URL, newest="evt_gone").words == "30 or more new events"
        assert news.since(frame, "events", [], rows_url=URL).count == 0
