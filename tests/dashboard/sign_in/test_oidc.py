"""Signing in at an OpenID provider, and what may go wrong with it."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.people.openid import ENV, ISSUER
from webapp.kit.clock import MINUTE
from webapp.people import invitations, password_resets, totp, users

PASSWORD = "a long password"


@pytest.fixture
def acme(make_stage: Callable[..., Any]) -> Any:
    """A dashboard whose people may sign in at Acme, too."""
    return make_stage(**ENV)


def come_back(stage: Any, browser: Any, start: str = "/sign-in/oidc") -> str:
    """Where the provider sends the browser after the person signed in there."""
    begun = browser.get(start)
    assert begun.status_code == 303, begun.text
    parts = urlsplit(stage.openid.consent(begun.headers["Location"]))
    return f"{parts.path}?{parts.query}"


def changed(url: str, **changes: str | None) -> str:
    parts = urlsplit(url)
    query = {name: value for name, value in (dict(parse_qsl(parts.query)) | changes).items() if value is not None}
    return f"{parts.path}?{urlencode(query)}"


def test_a_person_is_known_by_a_confirmed_address_and_then_by_name(acme: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totp, "is_on", lambda *_: True)
    browser = acme.browser()
    assert "Continue with Acme" in browser.get("/sign-in?next=/accounts").text
    done = browser.get(come_back(acme, browser, "/sign-in/oidc?next=/accounts"))
    assert (done.status_code, done.headers["Location"]) == (303, "/accounts")
    assert "You sign in by Acme." in browser.get("/settings").text
    acme.openid.person["email"] = "renamed@example.com"
    again = acme.browser()
    assert again.get(come_back(acme, again)).status_code == 303
    assert "alice@example.com" in again.get("/settings").text and len(users.all_users(acme.store)) == 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"state": "guess"}, "belongs to another sign-in"),
        ({"state": None}, "belongs to another sign-in"),
        ({"iss": "https://evil.example.com"}, "belongs to another sign-in"),
        ({"iss": None}, "belongs to another sign-in"),
        ({"code": "guess"}, "cannot be used"),
        ({"code": None, "error": "access_denied"}, "You did not sign in at Acme."),
        ({"code": None, "error": "invalid_scope"}, "cannot be used"),
    ],
)
def test_another_answer_than_the_one_that_was_asked_for(
    acme: Any, changes: dict[str, str | None], sentence: str
) -> None:
    browser = acme.browser()
    answer = browser.get(changed(come_back(acme, browser), **changes))
    assert answer.status_code == 403 and sentence in answer.text and "Back to sign in" in answer.text
    assert browser.get("/apps").status_code == 303


def test_an_answer_counts_once_in_the_browser_that_asked_and_not_for_ever(acme: Any) -> None:
    browser, url = acme.browser(), ""
    url = come_back(acme, browser)
    assert acme.browser().get(url).status_code == 403
    cookie = browser.client.get_cookie("patchbay_form")
    assert browser.get(url).status_code == 303
    replayed = acme.browser()
    replayed.client.set_cookie("patchbay_form", cookie.value)
    assert replayed.get(url).status_code == 403 and replayed.get("/apps").status_code == 303
    late = acme.browser()
    url = come_back(acme, late)
    acme.clock.advance(10 * MINUTE)
    assert "took too long" in late.get(url).text


def test_who_is_locked_out_stays_out(acme: Any) -> None:
    users.create(acme.store, acme.clock, email="olga@example.com", password=PASSWORD, role="owner")
    with acme.store.write() as tx:
        users.set_enabled(tx, acme.clock(), acme.alice, False)
    browser = acme.browser()
    answer = browser.get(come_back(acme, browser))
    assert answer.status_code == 403 and "This login is disabled." in answer.text
    assert browser.get("/apps").status_code == 303


def test_somebody_unknown_is_told_whom_to_ask(acme: Any) -> None:
    acme.openid.person["email"] = "lena@example.com"
    browser = acme.browser()
    assert "lena@example.com has no login here yet." in browser.get(come_back(acme, browser)).text
    _, token = invitations.invite(acme.store, acme.clock, email="lena@example.com", role="developer")
    assert "Continue with Acme" in browser.get(f"/invitation?token={token}").text
    assert browser.get(come_back(acme, browser)).status_code == 303
    page = browser.get("/settings").text
    assert "You sign in by Acme." in page and "Developer" in page and "Current password" not in page
    assert acme.browser().send("/sign-in", {"email": "lena@example.com", "password": ""}).status_code == 422


def test_a_provider_that_is_away(acme: Any) -> None:
    acme.openid.down = True
    answer = acme.browser().get("/sign-in/oidc")
    assert answer.status_code == 502 and "Acme cannot be reached right now." in answer.text


def test_signing_out_there_is_offered_to_who_signed_in_there(acme: Any) -> None:
    acme.openid.facts["end_session_endpoint"] = f"{ISSUER}/end"
    browser = acme.browser()
    browser.get(come_back(acme, browser))
    left = browser.send("/sign-out")
    page = browser.get(left.headers["Location"]).text
    assert f"{ISSUER}/end?client_id=patchbay&amp;post_logout_redirect_uri=http%3A%2F%2Flocalhost%2Fsign-in" in page
    assert "Sign out of Acme, too" in page and "Sign out of Acme" not in browser.get("/sign-in").text


def test_where_it_is_the_only_way_nothing_else_lets_anybody_in(make_stage: Callable[..., Any]) -> None:
    stage = make_stage(**ENV, PATCHBAY_OIDC_REQUIRED="on")
    browser = stage.browser()
    page = browser.get("/sign-in").text
    assert "Continue with Acme" in page and 'name="password"' not in page and "Use a passkey" not in page
    browser.get(come_back(stage, browser))
    assert "Current password" not in browser.get("/settings").text
    _, secret = invitations.invite(stage.store, stage.clock, email="lena@example.com", role="member")
    reset, _ = password_resets.issue(stage.store, stage.clock, stage.alice)
    other = stage.browser()
    assert 'name="password"' not in other.get(f"/invitation?token={secret}").text
    for path, form in (
        ("/sign-in", {"email": "alice@example.com", "password": PASSWORD}),
        ("/sign-in/code", {"code": "123456"}),
        ("/sign-in/passkey/options", {}),
        ("/sign-in/passkey", {}),
        ("/new-password", {"token": reset, "password": PASSWORD}),
        ("/invitation", {"token": secret, "password": PASSWORD}),
    ):
        answer = other.client.post(path, data=form)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in"), path
    assert users.by_email(stage.store, "lena@example.com") is None and other.get("/apps").status_code == 303


def test_without_a_provider_its_addresses_are_not_there(stage: Any) -> None:
    for path in ("/sign-in/oidc", "/sign-in/oidc/callback?code=a&state=b"):
        assert stage.browser().get(path).status_code == 404
