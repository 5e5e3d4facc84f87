"""Build: People, for owners alone."""

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.people.openid import ENV
from webapp.people import invitations, sessions, totp, users
from webapp.people.users import User

PEOPLE = "/build/people"


@pytest.fixture
def bob(stage: Any) -> User:
    return users.create(stage.store, stage.clock, email="bob@example.com", password="a long password", role="member")


@pytest.mark.parametrize("role", ["member", "developer"])
def test_to_other_roles_nothing_of_it_is_there(stage: Any, bob: User, role: str) -> None:
    with stage.store.write() as tx:
        bob = users.set_role(tx, stage.clock(), bob, role)
    browser = stage.signed_in("bob@example.com")
    invitation, _ = invitations.invite(stage.store, stage.clock, email="lena@example.com", role="owner")
    assert PEOPLE not in browser.get("/apps").text
    absent = browser.get("/build/nothing").status_code
    for path in (
        "",
        f"/{stage.alice.id}/removal",
        f"/{stage.alice.id}/lock-out",
        f"/invitations/{invitation.id}/withdrawal",
    ):
        assert browser.get(PEOPLE + path).status_code == absent == 404
    posts = [f"/{bob.id}/role", f"/{stage.alice.id}/removal", f"/{stage.alice.id}/reset-link", "/invitations"]
    for path in (*posts, f"/invitations/{invitation.id}/renewal", f"/invitations/{invitation.id}/withdrawal"):
        assert browser.send(PEOPLE + path, {"role": "owner", "emails": "kim@example.com"}).status_code == 404
    assert users.get(stage.store, bob.id).role == role and len(users.all_users(stage.store)) == 2
    assert [row.email for row in invitations.list_open(stage.store)] == ["lena@example.com"]


def test_the_page_tells_who_there_is(stage: Any, bob: User) -> None:
    page = stage.signed_in().get(PEOPLE).text
    assert "2 people" in page and "bob@example.com" in page and "not yet" in page
    assert "There is always one owner." in page and re.search(rf'id="role-{stage.alice.id}"[^>]*disabled', page)
    assert f'action="{PEOPLE}/{bob.id}/reset-link"' in page and f"{PEOPLE}/{stage.alice.id}/removal" not in page
    assert "Switch two-step sign-in off" not in page and "waits for an answer" not in page
    rights = re.findall(r'<th scope="row">([^<]+)</th>\s*((?:<td>[^<]+</td>\s*)+)', page)
    table = {what.strip(): re.findall(r"<td>([^<]+)</td>", cells) for what, cells in rights}
    assert table["Connect, run, watch"] == ["Yes"] * 3
    assert table["See signing keys and the audit log"] == ["–", "Yes", "Yes"]
    assert next(cells for what, cells in table.items() if "People" in what) == ["–", "–", "Yes"]
    assert 'role="search"' not in page and "follow" not in page


def test_somebody_who_signs_in_in_two_steps_can_be_helped(
    stage: Any, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(totp, "user_ids", lambda _: {bob.id})
    assert "Switch two-step sign-in off" in stage.signed_in().get(PEOPLE).text


def test_a_change_is_answered_with_the_people_only(stage: Any, bob: User) -> None:
    browser = stage.signed_in()
    changed = browser.send(f"{PEOPLE}/{bob.id}/role", {"role": "developer"}, htmx=True)
    assert changed.status_code == 200 and "bob@example.com is Developer now." in changed.text
    assert "<main" not in changed.text and users.get(stage.store, bob.id).role == "developer"
    refused = browser.send(f"{PEOPLE}/{stage.alice.id}/role", {"role": "member"}, htmx=True)
    assert refused.status_code == 409 and "only owner" in refused.text
    assert sessions.of_user(stage.store, stage.clock, stage.alice.id)


def test_of_many_people_the_first_are_shown_and_the_others_found(stage: Any, bob: User) -> None:
    new = users.prepare(stage.clock, email="p0@example.com", password="a long password", role="member")
    with stage.store.write() as tx:
        for number in range(100):
            at = stage.clock() + 1 + number
            user = replace(new.user, id=f"u_{number}", email=f"p{number}@example.com", created_at=at)
            users.insert(tx, replace(new, user=user))
    browser = stage.signed_in()
    page = browser.get(PEOPLE).text
    assert "102 people" in page and "First 100 of 102 shown" in page and "p99@example.com" not in page
    found = browser.get(f"{PEOPLE}?q=P99@").text
    assert "p99@example.com" in found and "bob@example.com" not in found and 'name="q" value="P99@"' in found
    assert "Nobody’s address has “zz” in it." in browser.get(f"{PEOPLE}?q=zz").text
    changed = browser.send(f"{PEOPLE}/u_99/role", {"role": "developer", "q": "p99"}, htmx=True).text
    assert "p99@example.com is Developer now." in changed and "bob@example.com" not in changed


def test_that_roles_follow_groups_is_said(make_stage: Any) -> None:
    stage = make_stage(**ENV, PATCHBAY_OIDC_ROLES="staff=member")
    bob = users.create(stage.store, stage.clock, email="bob@example.com", password="a long password", role="member")
    browser = stage.signed_in()
    assert "People who sign in with Acme get the role of their groups there" in browser.get(PEOPLE).text
    assert "whose groups at Acme may sign in would return" in browser.get(f"{PEOPLE}/{bob.id}/removal").text
