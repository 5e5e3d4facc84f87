"""The link with which an invited person makes a login."""

from typing import Any

import pytest

from webapp.kit.clock import DAY
from webapp.people import invitations, users

PASSWORD = {"password": "another long one"}


@pytest.fixture
def token(stage: Any) -> str:
    return str(invitations.invite(stage.store, stage.clock, email="lena@example.com", role="developer")[1])


def test_an_invited_person_chooses_a_password_and_is_signed_in(stage: Any, token: str) -> None:
    browser = stage.browser()
    page = browser.get(f"/invitation?token={token}")
    assert 'value="lena@example.com"' in page.text and "as Developer" in page.text
    weak = browser.send("/invitation", {"token": token, "password": "short"})
    assert weak.status_code == 422 and "at least 10 characters" in weak.text
    done = browser.send("/invitation", {"token": token, **PASSWORD})
    assert (done.status_code, done.headers["Location"]) == (303, "/apps")
    assert "Welcome. Next time, sign in with lena@example.com" in browser.get("/apps").text
    assert stage.browser().send("/sign-in", {"email": "lena@example.com", **PASSWORD}).status_code == 303
    person = users.by_email(stage.store, "lena@example.com")
    assert person and person.role == "developer" and person.seen_at == stage.clock()


@pytest.mark.parametrize("ending", ["used", "expired", "withdrawn", "replaced", "foreign", "absent"])
def test_a_link_that_does_not_work_says_so(stage: Any, token: str, ending: str) -> None:
    browser = stage.browser()
    if ending == "used":
        assert browser.send("/invitation", {"token": token, **PASSWORD}).status_code == 303
        browser = stage.browser()
    elif ending == "expired":
        stage.clock.advance(7 * DAY)
    elif ending == "withdrawn":
        with stage.store.write() as tx:
            invitations.withdraw(tx, stage.clock(), invitations.list_open(tx)[0].id)
    elif ending == "replaced":
        invitations.invite(stage.store, stage.clock, email="lena@example.com", role="owner")
    sent = {"foreign": f"x{token}", "absent": ""}.get(ending, token)
    before = len(users.all_users(stage.store))
    for answer in (browser.get(f"/invitation?token={sent}"), browser.send("/invitation", {"token": sent, **PASSWORD})):
        assert answer.status_code == 403 and "Ask for a new one." in answer.text
    assert len(users.all_users(stage.store)) == before


def test_a_form_of_another_site_does_nothing(stage: Any, token: str) -> None:
    refused = stage.browser().client.post("/invitation", data={"token": token, **PASSWORD})
    assert refused.status_code == 400 and len(users.all_users(stage.store)) == 1


def test_guesses_are_slowed_down(stage: Any, token: str) -> None:
    browser = stage.browser()
    answers = [browser.get(f"/invitation?token=guess{number}") for number in range(22)]
    assert answers[0].status_code == 403 and answers[-1].status_code == 429
    assert "Too many tries" in answers[-1].text and answers[-1].headers["Retry-After"]
    assert browser.get(f"/invitation?token={token}").status_code == 429
