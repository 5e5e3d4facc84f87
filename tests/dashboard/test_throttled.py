"""When the service throttles the dashboard, every page and every fragment says so, and when to come again; and the
dashboard itself does not ask again before."""

from typing import Any

import pytest

from webapp.kit.clock import SECOND

PAGES = (
    "/apps",
    "/apps/github",
    "/accounts",
    "/activity",
    "/triggers",
    "/accounts/{account}",
)
SENTENCE = "There were too many requests. Try again in 17 seconds."


@pytest.fixture
def throttled(busy: Any) -> Any:
    """Somebody who is signed in, just before everything is throttled."""
    browser = busy.signed_in()
    browser.get("/accounts")
    busy.connect.throttled = True
    return browser


def _at(stage: Any, page: str) -> str:
    return page.replace("{account}", next(iter(stage.connect.accounts)))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_so_and_when_to_come_again(busy: Any, throttled: Any, page: str) -> None:
    answer = throttled.get(_at(busy, page))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "17")
    assert SENTENCE in answer.text and "<html" in answer.text


@pytest.mark.parametrize("page", PAGES)
def test_a_fragment_says_so_in_the_status_region(busy: Any, throttled: Any, page: str) -> None:
    answer = throttled.get(_at(busy, page), htmx=True)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "17")
    assert SENTENCE in answer.text and "<html" not in answer.text


def test_a_page_that_is_throttled_asks_no_further(busy: Any, throttled: Any) -> None:
    before = len(busy.connect.seen)
    throttled.get("/accounts")
    assert len(busy.connect.seen) - before <= 1


def test_it_asks_again_when_it_may_and_not_before(busy: Any, throttled: Any) -> None:
    throttled.get("/accounts")
    asked = len(busy.connect.seen)
    for waited in (0, 6, 10):
        busy.clock.advance(waited * SECOND)
    answer = throttled.get("/accounts")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert "Try again in 1 second" in answer.text
    assert len(busy.connect.seen) == asked
    busy.connect.throttled = False
    busy.clock.advance(SECOND)
    assert throttled.get("/accounts").status_code == 200
    assert len(busy.connect.seen) > asked
