"""Errors on pages: a named cause and one next step; while the service throttles, when to come again."""

from typing import Any

import pytest

from tests.dashboard.conftest import PASSWORD
from webapp.dashboard import apps as apps_module
from webapp.kit.clock import SECOND
from webapp.people import users

PAGES = (
    "/apps",
    "/apps/github",
    "/accounts",
    "/logs",
    "/triggers",
    "/accounts/{account}",
)
SENTENCE = "There were too many requests. Try again in 17\xa0seconds."


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
    assert "Try again in 1\xa0second" in answer.text
    assert len(busy.connect.seen) == asked
    busy.connect.throttled = False
    busy.clock.advance(SECOND)
    assert throttled.get("/accounts").status_code == 200
    assert len(busy.connect.seen) > asked


def test_errors_name_cause_and_next_step(stage: Any) -> None:
    browser = stage.signed_in()
    missing = browser.get("/nowhere")
    assert missing.status_code == 404
    assert "Page not found" in missing.text and ">See all apps</a>" in missing.text
    assert '<a class="btn primary" href="/accounts">See your accounts</a>' in browser.get("/accounts/apn_no").text
    wrong = browser.get("/sign-out")
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "OPTIONS, POST")
    part = browser.get("/accounts/apn_nothing", htmx=True)
    assert (part.status_code, part.headers["HX-Retarget"]) == (404, "#status")


def test_whoever_is_signed_in_keeps_the_menu(busy: Any) -> None:
    browser = busy.signed_in()
    users.create(busy.store, busy.clock, email="marc@example.com", password=PASSWORD, role="member")
    refused = busy.signed_in("marc@example.com").get("/logs/audit")
    assert (refused.status_code, "That is not allowed" in refused.text) == (403, True)
    for answer in (browser.get("/nowhere"), browser.get("/accounts/apn_no"), refused):
        assert 'aria-label="Main"' in answer.text
        assert "Sign out" in answer.text
        assert answer.headers["Cache-Control"] == "no-store"
    assert 'aria-label="Main"' not in busy.browser().get("/nowhere").text


def test_a_bug_shows_a_reference_and_no_detail(
    stage: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("canary-detail")

    monkeypatch.setattr(apps_module.AppsQuery, "of_request", broken)
    answer = stage.signed_in().get("/apps")
    assert answer.status_code == 500
    assert "canary-detail" not in answer.text
    reference = answer.text.split('<span class="mono">')[1].split("<")[0]
    assert reference in caplog.text
    assert "canary-detail" in caplog.text


def test_paths_of_the_api_are_not_answered_here(stage: Any) -> None:
    answer = stage.signed_in().get("/v1/nothing")
    assert answer.status_code == 404
    assert "Content-Security-Policy" not in answer.headers
    assert "Patchbay" not in answer.text
