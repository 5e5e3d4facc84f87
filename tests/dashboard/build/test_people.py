"""Build: People, for owners alone."""

import re
from typing import Any

import pytest

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
    assert [row.email for row in invitations.waiting(stage.store)] == ["lena@example.com"]


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


def test_somebody_who_signs_in_in_two_steps_can_be_helped(
    stage: Any, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(totp, "is_on", lambda _, user_id: user_id == bob.id)
    assert "Switch two-step sign-in off" in stage.signed_in().get(PEOPLE).text


def test_a_change_is_answered_with_the_people_alone(stage: Any, bob: User) -> None:
    browser = stage.signed_in()
    changed = browser.send(f"{PEOPLE}/{bob.id}/role", {"role": "developer"}, htmx=True)
    assert changed.status_code == 200 and "bob@example.com is Developer now." in changed.text
    assert "<main" not in changed.text and users.get(stage.store, bob.id).role == "developer"
    refused = browser.send(f"{PEOPLE}/{stage.alice.id}/role", {"role": "member"}, htmx=True)
    assert refused.status_code == 409 and "only owner" in refused.text
    assert sessions.of_user(stage.store, stage.clock, stage.alice.id)
