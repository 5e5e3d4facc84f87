"""The Link with a provider by OAuth 1.0a: bound to the browser as by OAuth 2.0, and each ending by its name."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from webapp.service.domain.accounts import oauth_apps, provider
from webapp.service.domain.accounts.provider import CheckResult
from webapp.service.outbound import oauth1
from webapp.service.outbound.oauth import OAuthFailure, TokenResult, failure_for
from webapp.service.outbound.oauth1 import Temporary

CALLBACK = "http://localhost:8600/connect/oauth/callback/discogs"
GRANT = TokenResult("nnch", None, None, None, "oauth1", {"oauth_token": "nnch", "oauth_token_secret": "pfkk"})


@pytest.fixture
def asked(world: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the provider is asked: addresses to come back to, then verifiers."""
    oauth_apps.add(world.service, app="discogs", client_id="ck", client_secret="cs")
    seen: list[Any] = []

    def begin(_client: Any, _provider: Any, callback: str) -> Temporary:
        seen.append(callback)
        return Temporary("hh5s", "hdhd")

    def exchange(_client: Any, _provider: Any, temporary: Temporary, verifier: str) -> TokenResult | OAuthFailure:
        seen.append((temporary, verifier))
        return GRANT if verifier == "good" else failure_for("invalid_grant")

    monkeypatch.setattr(oauth1, "begin", begin)
    monkeypatch.setattr(oauth1, "exchange", exchange)
    monkeypatch.setattr(provider, "identify", lambda *_: CheckResult("ok", "", "7", "ada", "ada"))
    return seen


def leave(world: Any, browser: Any) -> Any:
    return browser.start(browser.open(world.token(), "&connectLink=true&app=discogs"), profile="")


def test_a_person_connects_and_the_window_knows(world: Any, browser: Any, asked: list[Any]) -> None:
    left = leave(world, browser)
    assert left.headers["Location"] == "https://www.discogs.com/oauth/authorize?oauth_token=hh5s"
    back = asked[0]
    assert back.startswith(f"{CALLBACK}?state=") and len(parse_qs(urlsplit(back).query)["state"][0]) == 43
    shown = browser.get(f"{back}&oauth_token=hh5s&oauth_verifier=good")
    (account,) = world.accounts()
    assert (account.app, account.identity_name, account.healthy) == ("discogs", "ada", True)
    assert "oauth_verifier" not in shown.headers["Location"]
    assert "Connected" in browser.get(shown.headers["Location"]).text
    assert asked[1:] == [(Temporary("hh5s", "hdhd"), "good")]
    assert browser.get(f"{back}&oauth_token=hh5s&oauth_verifier=good").status_code >= 300  # the same answer once more
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("denied=hh5s", "You cancelled"),
        ("oauth_token=hh5s", "sent you back without an answer"),
        ("oauth_token=hh5s&oauth_verifier=", "sent you back without an answer"),
        ("oauth_token=hh5s&oauth_token=x&oauth_verifier=good", "sent you back without an answer"),
        ("oauth_token=other&oauth_verifier=good", "did not come from the one that was asked"),
        ("oauth_token=hh5s&oauth_verifier=bad", "no longer accepts"),
    ],
)
def test_each_other_answer_has_a_named_ending(
    world: Any, browser: Any, asked: list[Any], answer: str, sentence: str
) -> None:
    leave(world, browser)
    back = browser.get(f"{asked[0]}&{answer}")
    assert sentence in browser.get(back.headers["Location"]).text
    assert world.accounts() == []


def test_another_browser_and_another_address_get_nothing(world: Any, browser: Any, asked: list[Any]) -> None:
    leave(world, browser)
    good = "oauth_token=hh5s&oauth_verifier=good"
    assert world.browser().get(f"{asked[0]}&{good}").status_code == 400
    assert browser.get(f"{CALLBACK}?{good}").status_code == 400
    back = browser.get(f"{asked[0]}&{good}".replace("/discogs", "/github"))
    assert "did not come from the one that was asked" in browser.get(back.headers["Location"]).text
    assert (world.accounts(), len(asked)) == ([], 1)


def test_a_provider_that_does_not_begin_ends_the_attempt(
    world: Any, browser: Any, asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth1, "begin", lambda *_: failure_for("temporarily_unavailable"))
    refused = leave(world, browser)
    assert refused.status_code >= 400 and "cannot answer right now" in refused.text
    assert world.service.store.all("SELECT status FROM connect_attempts") == [{"status": "failed"}]
