"""The deliveries of a trigger: filters in the address, one of them whole, and sending again."""

from typing import Any

import pytest

from tests.dashboard.trigger.fake_triggers import Watchtower
from tests.dashboard.trigger.trigger_page import ID, URL, news_url
from webapp.kit.clock import HOUR, SECOND


@pytest.fixture
def tower(stage: Any, tower: Watchtower) -> Watchtower:
    """A trigger with a delivery of each outcome."""
    tower.add(stage.alice.id, name="New task")
    tower.add_endpoint(ID, "https://hooks.example.com/in")
    tower.add_event(ID, {"id": 5}, "New task: Paint")
    now = stage.clock()
    tower.add_delivery(ID, "delivered", summary="Arrived")
    tower.add_delivery(ID, "failed", summary="Lost", attempt=10, created_at=now - 5 * HOUR)
    tower.add_delivery(ID, "waiting", summary="Later", attempt=3, next_attempt_at=now + 90 * SECOND)
    tower.add_delivery(ID, "waiting", summary="Fresh", attempt=0, response_status=None, took_ms=None)
    return tower


def test_list_tells_attempt_answer_and_next_try(stage: Any, tower: Watchtower) -> None:
    page = stage.signed_in().get(f"{URL}/deliveries").text
    for text in (">200<", ">503<", "Retrying", "On its way", "data-countdown", "164\xa0ms", "hooks.example.com",
                 "try 3", "4 entries shown", "Arrived →"):  # fmt: skip
        assert text in page, text


def test_filters_are_in_the_address(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    page = browser.get(f"{URL}/deliveries?status=failed").text
    assert "Lost" in page
    assert "Arrived" not in page
    assert f'href="{URL}/deliveries/resending"' in page.partition('id="panel"')[2]
    assert "1 entry shown" in page and 'name="kind"' not in page and 'name="id"' not in page
    since = "2027-01-15T07:00"  # an hour before now: the clock of the tests starts at 08:00 UTC
    part = browser.get(f"{URL}/deliveries?since={since}&status=nonsense", htmx=True)
    assert "Arrived" in part.text and "<html" not in part.text
    assert "Lost" not in part.text
    assert part.headers["HX-Push-Url"] == f"{URL}/deliveries?since=2027-01-15T07%3A00"
    assert "Nothing matches" in browser.get(f"{URL}/deliveries?until=2020-01-01T00:00").text
    browser.send("/settings", {"theme": "auto", "language": "en", "time_zone": "Asia/Tokyo"})
    assert "Arrived" not in browser.get(f"{URL}/deliveries?until=2027-01-15T16:00&status=failed").text
    assert "Arrived" in browser.get(f"{URL}/deliveries?since=2027-01-15T16:00").text  # 07:00 UTC
    assert browser.get(f"{URL}/deliveries?after=broken").status_code == 200


def test_dates_come_before_a_period(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    page = browser.get(f"{URL}/deliveries?period=hour").text
    assert "Arrived" in page and "Lost" not in page
    assert "Lost" in browser.get(f"{URL}/deliveries?period=day").text
    dated = browser.get(f"{URL}/deliveries?period=hour&since=2027-01-15T00:00").text
    assert "Lost" in dated and '<details class="fold log-dates" open>' in dated
    assert "Lost" in browser.get(f"{URL}/deliveries?period=nonsense").text


def test_one_that_was_not_sent_says_why(stage: Any, tower: Watchtower) -> None:
    why = "hooks.example.com is not on the public internet. Enter a public URL."
    attempt = {"n": 1, "at": 5, "error": why, "failure": "refused_by_guard"}
    tower.add_delivery(ID, "failed", response_status=None, error=why, attempts=[attempt])
    browser = stage.signed_in()
    assert why in browser.get(f"{URL}/deliveries").text
    page = browser.get(f"{URL}/deliveries/dlv_4").text
    assert "Address blocked" in page and "No answer" not in page and '<p class="bad-text">' not in page
    attempt["failure"] = "timeout"
    assert "No answer" in browser.get(f"{URL}/deliveries/dlv_4").text


def test_attempts_that_ended_alike_are_said_once(stage: Any, tower: Watchtower) -> None:
    refused = {"error": "hooks.example.com closed the connection.", "failure": "reset", "took_ms": 12}
    down = {"response_status": 503, "response_body": "down", "took_ms": 7}
    attempts = [
        {"n": 1, "at": 1_000, **refused},
        {"n": 2, "at": 61_000, **refused},
        {"n": 3, "at": 200_000, **down, "response_headers": {"Date": "Mon"}},
        {"n": 4, "at": 400_000, **down, "response_headers": {"Date": "Tue"}},
        {"n": 5, "at": 800_000, **down, "response_body": "still down"},
        {"n": 6, "at": 900_000, **refused},
    ]
    tower.add_delivery(ID, "failed", response_status=None, error="", attempts=attempts)
    page = stage.signed_in().get(f"{URL}/deliveries/dlv_4").text
    assert page.count("closed the connection.") == 2, "of the first two, and of the last"
    assert "Attempts 1–2" in page and "Attempts 3–5" in page and "Attempts 6" not in page
    assert [f"Attempt {number}<" in page for number in range(1, 8)] == [True] * 6 + [False]
    assert all(
        f'datetime="1970-01-01T00:{at}Z"' in page for at in ("00:01", "01:01", "03:20", "06:40", "13:20", "15:00")
    )
    assert "1 Jan 1970, 00:01:01 UTC</time>" in page
    assert "Date: Mon" in page and "Date: Tue" in page and page.count("still down") == 1


def test_rows_change_in_place(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    url = news_url(browser.get(f"{URL}/deliveries").text)
    assert browser.get(url, htmx=True).status_code == 204
    tower.deliveries[ID][0].update(status="delivered", attempt=1, response_status=204)
    tower.add_delivery(ID, "waiting", summary="Newer", created_at=stage.clock())
    part = browser.get(url, htmx=True).text
    assert "Show 1 new entry" in part and f'href="{URL}/deliveries"' in part
    assert '<hx-partial hx-target="#state-dlv_3"' in part
    assert "204" in part
    assert "Newer" not in part
    assert browser.get(news_url(part), htmx=True).status_code == 204


def test_one_delivery_is_shown_whole(stage: Any, tower: Watchtower) -> None:
    page = stage.signed_in().get(f"{URL}/deliveries/dlv_1").text
    for text in ("POST https://hooks.example.com/…", "webhook-id: evt_0", "{&#34;id&#34;: 5}", "Attempt 1",
                 "&lt;b&gt;down&lt;/b&gt;", "content-type: text/plain", "/logs?id=evt_0",
                 f'action="{URL}/deliveries/dlv_1/resend"'):  # fmt: skip
        assert text in page, text
    assert "Resend" in page and "Retry now" in stage.signed_in().get(f"{URL}/deliveries/dlv_2").text
    assert stage.signed_in().get(f"{URL}/deliveries/dlv_9").status_code == 404


@pytest.mark.parametrize("htmx", [True, False])
def test_one_is_sent_again(stage: Any, tower: Watchtower, htmx: bool) -> None:
    answer = stage.signed_in().send(f"{URL}/deliveries/dlv_1/resend", htmx=htmx)
    assert tower.resent == ["dlv_1"]
    assert ("on its way to hooks.example.com again" in answer.text) is htmx
    assert ('hx-target="#state-dlv_1"' in answer.text) is htmx


def test_everything_failed_is_counted_before_it_is_sent_again(stage: Any, tower: Watchtower) -> None:
    browser = stage.signed_in()
    none = browser.get(f"{URL}/deliveries/resending?since=2027-01-15T07:00").text
    assert 'since=2027-01-15T07:00" aria-current="true">1\xa0h</a>' in none.replace("%3A", ":")
    assert 'since=2027-01-08T08:00">7\xa0d</a>' in none.replace("%3A", ":")
    assert "<b>0 deliveries</b> that failed since then can be sent again." in none
    assert "Resend 0" not in none
    assert "any more" not in none
    tower.add_endpoint(ID, "https://gone.example.com/in", "deactivated")
    stopped = browser.get(f"{URL}/deliveries/resending").text
    assert "Deliveries to gone.example.com have stopped, so those that failed there are not included." in stopped
    page = browser.get(f"{URL}/deliveries/resending").text
    assert "Resend 1 delivery" in page
    assert not tower.resent
    answer = browser.send(f"{URL}/deliveries/resending", {"since": "2027-01-15T00:00"})
    assert answer.headers["Location"] == f"{URL}/deliveries"
    assert "1 delivery will be sent again." in browser.get(f"{URL}/deliveries").text
    assert tower.resent[0]["dry_run"] is False
    assert browser.send(f"{URL}/deliveries/resending", {"since": "yesterday"}).status_code == 400
