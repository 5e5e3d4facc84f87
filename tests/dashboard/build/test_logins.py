"""What owners do to logins."""

from typing import Any

import pytest

from webapp.people import password_resets, sessions, users
from webapp.people.users import User

PASSWORD = "a long password"


@pytest.fixture
def bob(stage: Any) -> User:
    return users.create(stage.store, stage.clock, email="bob@example.com", password=PASSWORD, role="member")


def test_a_role_is_saved_and_the_audit_names_who_did_it(stage: Any, bob: User) -> None:
    browser = stage.signed_in()
    answer = browser.send(f"/build/people/{bob.id}/role", {"role": "owner"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/build/people")
    assert "bob@example.com is Owner now." in browser.get("/build/people").text
    (entry,) = stage.store.all("SELECT actor_kind, actor, subject_id FROM audit WHERE verb = 'role_changed'")
    assert dict(entry) == {"actor_kind": "person", "actor": stage.alice.id, "subject_id": bob.id}
    away = browser.send(f"/build/people/{stage.alice.id}/role", {"role": "member"})
    assert away.headers["Location"] == "/apps" and browser.get("/build/people").status_code == 404
    assert stage.signed_in("bob@example.com").get("/build/people").status_code == 200


def test_the_last_owner_stays_one(stage: Any, bob: User) -> None:
    browser = stage.signed_in()
    browser.send(f"/build/people/{stage.alice.id}/role", {"role": "member"})
    assert "only owner who can sign in" in browser.get("/build/people").text
    browser.send(f"/build/people/{bob.id}/role", {"role": "king"})
    assert "The role must be" in browser.get("/build/people").text
    assert {user.id: user.role for user in users.all_users(stage.store)} == {stage.alice.id: "owner", bob.id: "member"}


def test_somebody_is_locked_out_and_let_in_again(stage: Any, bob: User) -> None:
    browser, theirs = stage.signed_in(), stage.signed_in("bob@example.com")
    question = browser.get(f"/build/people/{bob.id}/lock-out").text
    assert "Lock bob@example.com out?" in question and "their triggers go on" in question
    browser.send(f"/build/people/{bob.id}/lock-out")
    page = browser.get("/build/people").text
    assert "bob@example.com is locked out." in page and "Locked out" in page and "Allow again" in page
    assert theirs.get("/apps").status_code == 303
    browser.send(f"/build/people/{bob.id}/lock-out/end")
    assert "may sign in again" in browser.get("/build/people").text and users.get(stage.store, bob.id).enabled


def test_somebody_is_signed_out_and_helped_with_a_link(stage: Any, bob: User) -> None:
    browser, theirs = stage.signed_in(), stage.signed_in("bob@example.com")
    browser.send(f"/build/people/{bob.id}/sessions/end")
    assert theirs.get("/apps").status_code == 303 and not sessions.of_user(stage.store, stage.clock, bob.id)
    page = browser.send(f"/build/people/{bob.id}/reset-link")
    assert "data-relative>in 1 day</time>" in page.text, "when the link ends"
    secret = page.text.partition("/new-password?token=")[2].partition("<")[0]
    assert password_resets.user_of_token(stage.store, stage.clock, secret) == users.get(stage.store, bob.id)
    assert secret not in browser.get("/build/people").text
    assert "passkeys are removed" in browser.get(f"/build/people/{bob.id}/two-step/off").text
    browser.send(f"/build/people/{bob.id}/two-step/off")
    assert "signs in with only the password" in browser.get("/build/people").text
    browser.send(f"/build/people/{bob.id}/lock-out")
    browser.send(f"/build/people/{bob.id}/reset-link")
    assert "enable it first" in browser.get("/build/people").text


def test_somebody_is_removed_with_everything_of_theirs(stage: Any, bob: User) -> None:
    browser = stage.signed_in()
    question = browser.get(f"/build/people/{bob.id}/removal").text
    assert "cannot be undone" in question and "accounts that they connected" in question
    browser.send(f"/build/people/{bob.id}/removal")
    assert "bob@example.com is removed." in browser.get("/build/people").text
    assert users.by_id(stage.store, bob.id) is None


def test_one_s_own_login_is_looked_after_in_settings(stage: Any, bob: User) -> None:
    browser = stage.signed_in()
    for path in ("removal", "lock-out"):
        assert browser.get(f"/build/people/{stage.alice.id}/{path}").status_code == 404
        assert browser.send(f"/build/people/{stage.alice.id}/{path}").status_code == 404
    assert browser.send("/build/people/u_nobody/removal").status_code == 404
    assert browser.client.post(f"/build/people/{bob.id}/removal").status_code == 400
    assert len(users.all_users(stage.store)) == 2
