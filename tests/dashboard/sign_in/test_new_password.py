"""The link with which a person chooses another password."""

from typing import Any

from webapp.people import password_resets

NEW = {"password": "another long one"}


def test_a_link_sets_a_password_once(stage: Any) -> None:
    signed_in, browser = stage.signed_in(), stage.browser()
    token, _ = password_resets.issue(stage.store, stage.clock, stage.alice)
    page = browser.get(f"/new-password?token={token}")
    assert "for alice@example.com" in page.text and f'name="token" value="{token}"' in page.text
    weak = browser.send("/new-password", {"token": token, "password": "short"})
    assert weak.status_code == 422 and "at least 10 characters" in weak.text
    done = browser.send("/new-password", {"token": token, **NEW})
    assert (done.status_code, done.headers["Location"]) == (303, "/sign-in")
    assert "Your new password is set." in browser.get("/sign-in").text
    assert browser.send("/sign-in", {"email": "alice@example.com", **NEW}).status_code == 303
    assert signed_in.get("/apps").status_code == 303, "every browser is signed out"


def test_a_link_that_does_not_work_says_so(stage: Any) -> None:
    browser = stage.browser()
    for answer in (browser.get("/new-password"), browser.send("/new-password", {"token": "guess", **NEW})):
        assert answer.status_code == 403 and "Ask for a new one." in answer.text
