"""First start: the printed link, and nothing else, makes the owner."""

from typing import Any

import pytest

from webapp.people import start_tokens, users


@pytest.fixture
def fresh(stage: Any) -> Any:
    with stage.store.write() as tx:
        tx.run("DELETE FROM users")
    return stage


def test_the_link_makes_the_owner_and_signs_in(fresh: Any) -> None:
    token = start_tokens.issue(fresh.store, fresh.clock)
    browser = fresh.browser()
    page = browser.get(f"/start?token={token}")
    assert page.status_code == 200
    assert f'name="token" value="{token}"' in page.text
    assert page.headers["Cache-Control"] == "no-store"
    form = {"token": token, "email": "Owner@Example.com", "password": "a long password"}
    answer = browser.send("/start", form)
    assert answer.headers["Location"] == "/apps"
    first = browser.get("/apps").text
    assert "owner@example.com" in first and "Your API key is in Settings" in first
    (owner,) = users.all_users(fresh.store)
    assert (owner.email, owner.role) == ("owner@example.com", "owner")
    assert fresh.browser().get(f"/start?token={token}").headers["Location"] == "/sign-in"
    again = fresh.browser().send("/start", form | {"email": "mallory@example.com"})
    assert again.status_code == 403
    assert len(users.all_users(fresh.store)) == 1


@pytest.mark.parametrize("token", ["", "guess"])
def test_without_the_token_nobody_gets_in(fresh: Any, token: str) -> None:
    start_tokens.issue(fresh.store, fresh.clock)
    browser = fresh.browser()
    page = browser.get(f"/start?token={token}")
    assert page.status_code == 403
    assert "open the link that it prints" in page.text
    form = {"token": token, "email": "mallory@example.com", "password": "a long password"}
    assert browser.send("/start", form).status_code == 403
    assert not users.any_user(fresh.store)


def test_mistakes_are_named_beside_their_fields(fresh: Any) -> None:
    token = start_tokens.issue(fresh.store, fresh.clock)
    answer = fresh.browser().send("/start", {"token": token, "email": "owner", "password": "canary"})
    assert answer.status_code == 422
    assert 'id="f-email-err"' in answer.text
    assert 'id="f-password-err"' in answer.text
    assert 'value="owner"' in answer.text
    assert "canary" not in answer.text
