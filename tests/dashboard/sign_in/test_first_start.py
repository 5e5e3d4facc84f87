"""The first start: the printed link alone makes the owner, and names what end users read."""

from typing import Any

import pytest

from webapp.people import start_tokens, users
from webapp.people.start_tokens import ProjectNames

NAMES = {"app_name": "Acme Desk", "support_email": "help@acme.example"}


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
    form = NAMES | {"token": token, "email": "Owner@Example.com", "password": "a long password"}
    answer = browser.send("/start", form)
    assert answer.headers["Location"] == "/checklist"
    first = browser.get("/checklist").text
    assert "owner@example.com" in first and 'href="/apps"' in first and 'href="/settings"' in first
    assert fresh.first_project.saved == [ProjectNames("Acme Desk", "help@acme.example")]
    (owner,) = users.all_users(fresh.store)
    assert (owner.email, owner.role) == ("owner@example.com", "owner")
    assert browser.get("/start/next").headers["Location"] == "/checklist", "its address before"
    assert fresh.browser().get(f"/start?token={token}").headers["Location"] == "/sign-in"
    again = fresh.browser().send("/start", form | {"email": "mallory@example.com"})
    assert again.status_code == 403
    assert len(users.all_users(fresh.store)) == 1


def test_over_https_it_needs_no_referer_which_the_page_keeps_to_itself(make_stage: Any) -> None:
    base = "https://connect.example.com"
    stage = make_stage(PATCHBAY_PUBLIC_URL=base)
    with stage.store.write() as tx:
        tx.run("DELETE FROM users")
    token, client = start_tokens.issue(stage.store, stage.clock), stage.app.test_client()
    page = client.get(f"/start?token={token}", base_url=base)
    assert '<meta name="referrer" content="no-referrer">' in page.text
    form = NAMES | {"token": token, "email": "owner@example.com", "password": "a long password"}
    assert client.post("/start", base_url=base, data=form).status_code == 400, "without the token of the form"
    form["csrf_token"] = page.text.split('name="csrf_token" value="')[1].split('"')[0]
    answer = client.post("/start", base_url=base, data=form)
    assert (answer.status_code, answer.headers.get("Location")) == (303, "/checklist")


@pytest.mark.parametrize("token", ["", "guess"])
def test_without_the_token_nobody_gets_in(fresh: Any, token: str) -> None:
    start_tokens.issue(fresh.store, fresh.clock)
    browser = fresh.browser()
    page = browser.get(f"/start?token={token}")
    assert page.status_code == 403
    assert "open the link that it prints" in page.text
    form = NAMES | {"token": token, "email": "mallory@example.com", "password": "a long password"}
    assert browser.send("/start", form).status_code == 403
    assert not users.any_user(fresh.store)
    assert fresh.first_project.saved == []


def test_mistakes_are_named_beside_their_fields(fresh: Any) -> None:
    token = start_tokens.issue(fresh.store, fresh.clock)
    form = {"token": token, "email": "owner", "password": "canary", "app_name": "Acme", "support_email": "acme"}
    answer = fresh.browser().send("/start", form)
    assert answer.status_code == 422
    assert 'id="f-email-err"' in answer.text
    assert 'id="f-password-err"' in answer.text
    assert 'id="f-support_email-err"' in answer.text and 'value="acme"' in answer.text
    assert 'id="f-app_name-err"' not in answer.text and 'value="Acme"' in answer.text
    assert 'value="owner"' in answer.text
    assert "canary" not in answer.text


def test_the_form_begins_with_the_names_that_there_are(fresh: Any) -> None:
    token = start_tokens.issue(fresh.store, fresh.clock)
    fresh.first_project.known = ProjectNames("Acme", "help@acme.example")
    page = fresh.browser().get(f"/start?token={token}").text
    assert 'value="Acme"' in page and 'value="help@acme.example"' in page


def test_projects_of_another_service_are_not_named_here(make_stage: Any) -> None:
    stage = make_stage(
        PATCHBAY_PUBLIC_URL="http://localhost", PATCHBAY_CONNECT_URL="https://connect.example.com",
        PATCHBAY_CONNECT_CLIENT_ID="client", PATCHBAY_CONNECT_CLIENT_SECRET="secret", PATCHBAY_PROJECT="proj_Fake1",
    )  # fmt: skip
    with stage.store.write() as tx:
        tx.run("DELETE FROM users")
    token = start_tokens.issue(stage.store, stage.clock)
    browser = stage.browser()
    assert 'name="support_email"' not in browser.get(f"/start?token={token}").text
    form = {"token": token, "email": "owner@example.com", "password": "a long password"}
    assert browser.send("/start", form).headers["Location"] == "/checklist"
