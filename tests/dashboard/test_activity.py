"""Activity: newest first, filters and pages in the address, and only where the service keeps a record."""

import re
from typing import Any

import pytest

from webapp.kit.clock import MINUTE, iso


@pytest.fixture
def eventful(busy: Any) -> Any:
    """Forty entries of two accounts, one of them gone."""
    for number in range(40):
        gone = number % 4 == 3
        busy.connect.activity_entries.append(
            {
                "id": f"ev_{number}", "account_id": "apn_gone" if gone else "apn_000000x",
                "app": "stripe" if gone else "github", "at": iso(busy.clock() - number * MINUTE),
                "kind": "disconnected" if gone else "trouble", "good": gone, "sentence": f"Entry number {number}.",
            }
        )  # fmt: skip
    return busy


def entries(html: str) -> list[int]:
    return [int(number) for number in re.findall(r"Entry number (\d+)\.", html)]


def test_newest_first_and_older_ones_behind_a_link(eventful: Any) -> None:
    browser = eventful.signed_in()
    page = browser.get("/activity").text
    assert entries(page) == list(range(30))
    assert "Newest 30 of 40 entries shown" in page
    assert 'href="/accounts/apn_000000x"' in page
    assert "apn_gone" not in page
    assert "No longer connected" in page
    older = re.search(r'rel="next" href="([^"]+)"', page)
    assert older
    rest = browser.get(older[1].replace("&amp;", "&")).text
    assert entries(rest) == list(range(30, 40))
    assert "10 of 40 entries shown" in rest
    assert "Back to the newest" in rest
    assert 'rel="next"' not in rest


def test_filters_are_in_the_address(eventful: Any) -> None:
    browser = eventful.signed_in()
    assert entries(browser.get("/activity?app=stripe").text) == list(range(3, 40, 4))
    assert entries(browser.get("/activity?kind=disconnected").text) == list(range(3, 40, 4))
    assert entries(browser.get("/activity?account=apn_gone").text) == list(range(3, 40, 4))
    nothing = browser.get("/activity?app=stripe&kind=trouble").text
    assert "Nothing matches" in nothing
    assert 'value="stripe" selected' in nothing
    part = browser.get("/activity?app=stripe&kind=", htmx=True)
    assert "<html" not in part.text
    assert part.headers["HX-Push-Url"] == "/activity?app=stripe"


def test_a_broken_cursor_leads_to_the_newest(eventful: Any) -> None:
    assert entries(eventful.signed_in().get("/activity?after=broken").text) == list(range(30))


def test_empty_and_down_are_different(busy: Any) -> None:
    browser = busy.signed_in()
    assert "Nothing has happened yet" in browser.get("/activity").text
    busy.connect.down = True
    answer = browser.get("/activity")
    assert answer.status_code == 503
    assert "Your activity can’t be shown right now" in answer.text


def test_another_service_without_it_has_no_such_page(elsewhere: Any) -> None:
    browser = elsewhere.signed_in()
    assert 'href="/activity"' in browser.get("/apps").text
    elsewhere.clock.advance(6 * MINUTE)
    elsewhere.connect.extensions = False
    assert 'href="/activity"' not in browser.get("/apps").text
    assert browser.get("/activity").status_code == 404


def test_an_entry_says_what_happened_once(eventful: Any) -> None:
    browser = eventful.signed_in()
    table = browser.get("/activity").text.split("<tbody>")[1].split("</tbody>")[0]
    assert table.count("Entry number 0.") == 1
    assert '<span class="tone warn">Entry number 0.</span>' in table
    assert "Trouble" not in table and "badge" not in table
    eventful.connect.activity_entries[0]["sentence"] = ""
    assert '<span class="tone warn">Trouble</span>' in browser.get("/activity").text
