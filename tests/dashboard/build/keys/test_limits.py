"""How limits stand on API & keys."""

import re

import pytest

from tests.dashboard.embedded import Embedded
from webapp.audit import Actor
from webapp.dashboard.build.keys.limits import WORDS, in_words, refused_in_words, window_in_words
from webapp.dashboard.client.build.limits import Caller, LimitNow
from webapp.kit.clock import HOUR, SECOND, FakeClock
from webapp.service.domain.access import custom_limits, refused_calls
from webapp.service.domain.base.rate_limits import LIMITS, Limit, key_of


@pytest.mark.parametrize(
    ("used", "words"), [(0, "0 of 2,000"), (1800, "1,800 of 2,000, nearly full"), (2000, "2,000 of 2,000, full")]
)
def test_what_is_used_up_in_words(used: int, words: str) -> None:
    assert in_words(LimitNow(name="tools", limit=2000, used=used)) == words


@pytest.mark.parametrize(
    ("refused", "by", "words"),
    [
        (0, None, ""),
        (3, None, "3 refused in the last hour"),
        (1, "Web app", "1 refused in the last hour, from Web app"),
        (1200, "alice", "1,200 refused in the last hour, all from alice"),
    ],
)
def test_what_was_refused_in_words(refused: int, by: str | None, words: str) -> None:
    assert (
        refused_in_words(LimitNow(name="tools", refused=refused, refused_by=Caller(name=by) if by else None)) == words
    )


@pytest.mark.parametrize(
    ("windows", "words"),
    [([300, 300], "Usage in the current 5\xa0minutes."), ([60, 300], ""), ([], "")],
)
def test_how_long_bars_last_in_words(windows: list[int], words: str) -> None:
    without_a_bar = LimitNow(name="tokens", window_seconds=60)
    bars = [LimitNow(name="tools", window_seconds=window, used=1) for window in windows]
    assert window_in_words([*bars, without_a_bar]) == words


def test_every_limit_has_words() -> None:
    assert WORDS.keys() == LIMITS.keys()


def test_the_page_tells_what_servers_used_up(office: Embedded, office_clock: FakeClock) -> None:
    office_clock.advance(HOUR)
    key = key_of("proxy", office.project.id, "development")
    office.service.limits.hit(LIMITS["proxy"], key, 990)
    page = office.browser("developer").get("/build/keys/limits")
    assert "990 of 1,000, nearly full" in page and "0 of 3,000" in page
    assert "Usage in the current 5\xa0minutes" in page
    assert "100 in 1\xa0minute for each user" in page and "refused in the last hour" not in page


def test_the_page_tells_what_was_refused(office: Embedded) -> None:
    key = key_of("tokens", office.project.id, "development")
    for _ in range(2):
        refused_calls.note(office.service, key, Actor("user", "user-4812"))
    assert "2 refused in the last hour, all from user-4812" in office.browser("developer").get("/build/keys/limits")


def test_a_limit_of_ones_own_is_made_and_listed(office: Embedded, office_clock: FakeClock) -> None:
    office_clock.advance(1)
    browser = office.browser("developer")
    assert "Calls allowed" in browser.get("/build/keys/limits/new")
    page = browser.follow("/build/keys/limits", {"requests": "250", "window": "60"})
    (token,) = set(re.findall(r"rl_[0-9A-Za-z]{32}", page))
    assert "250 calls in 1\xa0minute" in page and "None in the last hour" in page
    browser.send("/build/keys/secret/kept")
    later = browser.get("/build/keys/limits")
    assert token not in later and "250 calls in 1\xa0minute" in later
    office.browser("member").get("/build/keys/limits/new", code=404)


@pytest.mark.parametrize(
    "form",
    [{}, {"requests": "0"}, {"requests": "1000001"}, {"requests": "9" * 5_000}, {"requests": "1", "window": "7"}],
)
def test_a_limit_that_is_none_is_asked_for_again(office: Embedded, form: dict[str, str]) -> None:
    answer = office.browser("developer").send("/build/keys/limits", {"window": "60", **form})
    assert answer.status_code == 422 and "Use a whole number" in answer.text


def test_the_latest_limits_of_many_are_shown(office: Embedded, office_clock: FakeClock) -> None:
    for requests in range(301, 323):
        office_clock.advance(1)
        custom_limits.create(office.service, Limit(requests, HOUR // SECOND))
    page = office.browser("developer").get("/build/keys/limits")
    assert "322 calls in 1\xa0hour" in page and "301 calls" not in page and "Latest 20 of 2" in page
