"""Logs: newest first, filters in the address, rows that open, news, exports, and only where the service has them."""

import csv
import io
import json
import re
from typing import Any

import pytest

from tests.dashboard.trigger.trigger_page import news_url
from webapp.dashboard.client.models.logs import LogEntry
from webapp.dashboard.logs import Row, folded
from webapp.kit.clock import MINUTE, iso


@pytest.fixture
def eventful(busy: Any) -> Any:
    """Sixty entries of two accounts, one of them gone."""
    for number in range(60):
        gone = number % 4 == 3
        busy.connect.log_entries.append(
            {
                "id": f"ev_{number}", "kind": "account", "account_id": "apn_gone" if gone else "apn_000000x",
                "app": "stripe" if gone else "github", "at": iso(busy.clock() - number * MINUTE), "trigger_id": None,
                "outcome": "disconnected" if gone else "trouble", "status": "succeeded" if gone else "failed",
                "title": f"Entry number {number}.",
            }
        )  # fmt: skip
    return busy


def entries(html: str) -> list[int]:
    return [int(number) for number in re.findall(r"Entry number (\d+)\.", html)]


def test_newest_first_and_older_ones_behind_a_link(eventful: Any) -> None:
    browser = eventful.signed_in()
    page = browser.get("/logs").text
    assert entries(page) == list(range(50))
    assert "50 entries shown" in page and "apn_gone" not in page and "No longer connected" in page
    older = re.search(r'rel="next" href="([^"]+)"', page)
    assert older
    rest = browser.get(older[1].replace("&amp;", "&")).text
    assert entries(rest) == list(range(50, 60))
    assert "Back to the newest" in rest and 'rel="next"' not in rest and 'id="news"' not in rest


def test_filters_are_in_the_address(eventful: Any) -> None:
    browser, gone = eventful.signed_in(), list(range(3, 60, 4))
    for query in ("app=stripe", "status=succeeded", "id=apn_gone"):
        assert entries(browser.get(f"/logs?{query}").text) == gone
    nothing = browser.get("/logs?app=stripe&status=failed").text
    assert "Nothing matches" in nothing and 'value="stripe" selected' in nothing and 'href="/logs">Clear</a>' in nothing
    part = browser.get("/logs?app=stripe&kind=&status=nonsense", htmx=True)
    assert "<html" not in part.text and part.headers["HX-Push-Url"] == "/logs?app=stripe"
    chips = browser.get("/logs?kind=account&status=failed").text
    assert 'hx-get="/logs?kind=account&amp;status=failed" aria-current="true">Changes <b>45</b>' in chips


def test_the_addresses_of_before_lead_here(eventful: Any) -> None:
    browser = eventful.signed_in()
    for before, now in (
        ("/activity", "/logs?kind=account"),
        ("/activity?account=apn_gone&app=stripe", "/logs?kind=account&app=stripe&id=apn_gone"),
        ("/activity/audit?noun=client", "/logs/audit?noun=client"),
    ):
        answer = browser.get(before)
        assert (answer.status_code, answer.headers["Location"]) == (301, now)


def test_a_broken_cursor_leads_to_the_newest(eventful: Any) -> None:
    assert entries(eventful.signed_in().get("/logs?after=broken").text) == list(range(50))


def test_empty_and_down_are_different(busy: Any) -> None:
    browser = busy.signed_in()
    assert "No entries yet" in browser.get("/logs").text
    busy.connect.down = True
    answer = browser.get("/logs")
    assert answer.status_code == 503 and "Your logs can’t be shown right now" in answer.text


def test_another_service_without_it_has_no_such_page(elsewhere: Any) -> None:
    browser = elsewhere.signed_in()
    assert 'href="/logs"' in browser.get("/apps").text
    elsewhere.clock.advance(6 * MINUTE)
    elsewhere.connect.extensions = False
    assert 'href="/logs"' not in browser.get("/apps").text
    assert browser.get("/logs").status_code == 404


def test_a_row_opens_in_its_place_or_on_a_page_of_its_own(eventful: Any) -> None:
    browser = eventful.signed_in()
    assert 'hx-get="/logs/ev_0"' in browser.get("/logs").text
    part = browser.get("/logs/ev_0", htmx=True).text
    assert "<html" not in part and "Open the account" in part and 'href="/accounts/apn_000000x"' in part
    assert "Entry number 0." not in part, "its row says it"
    page = browser.get("/logs/ev_0").text
    assert '<span class="badge warn">Trouble</span>' in page and 'href="/logs?id=apn_000000x"' in page
    assert browser.get("/logs/ev_none").status_code == 404


def test_what_is_new_is_announced_and_moves_nothing(eventful: Any) -> None:
    browser = eventful.signed_in()
    page = browser.get("/logs?app=github").text
    ask = news_url(page)
    assert "newest=ev_0" in ask
    assert browser.get(ask, htmx=True).status_code == 204
    newer = {**eventful.connect.log_entries[0], "id": "ev_new", "title": "New."}
    eventful.connect.log_entries.insert(0, newer)
    news = browser.get(ask, htmx=True).text
    assert 'href="/logs?app=github" data-news="1 new entry"' in news and "New." not in news
    assert browser.get(news_url(news), htmx=True).status_code == 204
    eventful.connect.log_entries[:0] = [{**newer, "id": f"ev_n{number}"} for number in range(40)]
    assert "30 or more new entries" in browser.get(ask, htmx=True).text


def test_the_first_entries_take_the_place_of_the_notice_that_there_are_none(eventful: Any) -> None:
    browser = eventful.signed_in()
    kept, eventful.connect.log_entries[:] = list(eventful.connect.log_entries), []
    empty = browser.get("/logs").text
    ask, filtered = news_url(empty), news_url(browser.get("/logs?app=github").text)
    assert "No entries yet" in empty and "Changes <b>" not in empty
    eventful.connect.log_entries[:] = kept[:1]
    news = browser.get(ask, htmx=True).text
    parts = dict(re.findall(r'<hx-partial hx-target="([^"]+)" hx-swap="outerHTML">(.*?)</hx-partial>', news, re.DOTALL))
    assert "Changes <b>1</b>" in parts["#results:has(> .empty) > .chips"]
    assert 'id="state-ev_0"' in parts["#results > .empty"]
    assert 'id="news-link"' not in news and news.count('id="news"') == 1
    assert browser.get(news_url(news), htmx=True).status_code == 204
    pill = browser.get(filtered, htmx=True).text
    assert "1 new entry" in pill and "#results" not in pill, "a filter may be typed at that moment"


def test_what_is_filtered_is_saved_whole(eventful: Any) -> None:
    eventful.connect.log_entries[3]["title"] = '=HYPERLINK("https://x.example"), “ä”'
    browser = eventful.signed_in()
    answer = browser.get("/logs/export.csv?app=stripe")
    assert answer.headers["Content-Disposition"] == "attachment; filename=logs.csv"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["id"] for row in rows] == [f"ev_{number}" for number in range(3, 60, 4)]
    assert rows[0]["title"] == '\'=HYPERLINK("https://x.example"), “ä”', "no spreadsheet takes it for a formula"
    lines = [json.loads(line) for line in browser.get("/logs/export.jsonl").text.splitlines()]
    assert len(lines) == 60 and lines[0]["at"] and lines[0]["external_user_id"] is None
    assert browser.get("/logs/export.txt").status_code == 404
    assert browser.get("/logs/export.csv?app=none").text.startswith("at,kind,id,")


def polls(pattern: str) -> list[Row]:
    """A run a letter: ``.`` found nothing, ``e`` something, ``x`` failed, ``r`` is for a request, ``,`` another's."""
    return [
        Row(LogEntry(
            kind="run", id=f"tr_{number}", outcome="request" if kind == "r" else "timer", emitted=int(kind == "e"),
            status="failed" if kind == "x" else "succeeded", trigger_id="dc_2" if kind == "," else "dc_1",
        ), "", "", "", None)
        for number, kind in enumerate(pattern)
    ]  # fmt: skip


def test_those_in_a_row_that_found_nothing_fold() -> None:
    lines = list[str | int]()
    for are_folded, rows in folded(polls("..e....x...r..,,,")):
        lines += [len(rows)] if are_folded else [row.entry.id for row in rows]
    assert lines == ["tr_0", "tr_1", "tr_2", 4, "tr_7", 3, "tr_11", "tr_12", "tr_13", 3]
    assert folded([]) == []


def test_rows_say_how_they_are_now_where_they_are(eventful: Any) -> None:
    browser = eventful.signed_in()
    url = news_url(browser.get("/logs").text)
    assert browser.get(url, htmx=True).status_code == 204
    eventful.connect.log_entries[0].update(status="succeeded", outcome="recovered")
    part = browser.get(url, htmx=True).text
    assert '<hx-partial hx-target="#state-ev_0"' in part and "Working again" in part and 'id="news-link"' not in part
    assert "#news-place" not in part, "the pill stays as it is"
    assert browser.get(news_url(part), htmx=True).status_code == 204
