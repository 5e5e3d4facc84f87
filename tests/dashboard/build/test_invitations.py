"""Inviting people in the dashboard."""

import re
from typing import Any

from webapp.kit.clock import DAY
from webapp.people import invitations


def links(text: str) -> list[str]:
    return re.findall(r"/invitation\?token=([\w-]+)", text)


def test_several_are_invited_at_once_by_links_that_are_shown_once(stage: Any) -> None:
    browser = stage.signed_in()
    page = browser.send(
        "/build/people/invitations", {"emails": "Lee@example.com,\nkim@example.com", "role": "developer"}
    )
    assert page.status_code == 200 and "It is shown only once." in page.text
    tokens = links(page.text)
    rows = [invitations.by_token(stage.store, stage.clock(), token) for token in tokens]
    assert [(row.email, row.role, row.invited_by) for row in rows if row] == [
        ("lee@example.com", "developer", stage.alice.id), ("kim@example.com", "developer", stage.alice.id),
    ]  # fmt: skip
    after = browser.get("/build/people").text
    assert "2 wait for an answer" in after and "invited by you" in after and not links(after)
    welcome = stage.browser().get(f"/invitation?token={tokens[0]}")
    assert "as Developer" in welcome.text


def test_nobody_is_invited_while_one_address_is_wrong(stage: Any) -> None:
    browser = stage.signed_in()
    for emails, sentence in (
        ("kim@example.com, nonsense", "“nonsense” is not an e-mail address"),
        ("kim@example.com, Alice@example.com", "alice@example.com has a login already."),
        (" ,", "Enter the address"),
        ("\n".join(f"p{number}@example.com" for number in range(51)), "at most 50"),
    ):
        answer = browser.send("/build/people/invitations", {"emails": emails, "role": "member"})
        assert answer.status_code == 422 and sentence in answer.text
    assert "Unknown" not in answer.text
    answer = browser.send("/build/people/invitations", {"emails": "kim@example.com", "role": "king"})
    assert (
        answer.status_code == 422 and "The role must be" in answer.text and "kim@example.com</textarea>" in answer.text
    )
    assert invitations.list_open(stage.store) == []


def test_one_is_invited_again_and_withdrawn(stage: Any) -> None:
    browser = stage.signed_in()
    (old,) = links(browser.send("/build/people/invitations", {"emails": "kim@example.com", "role": "member"}).text)
    stage.clock.advance(8 * DAY)
    (row,) = invitations.list_open(stage.store)
    page = browser.get("/build/people").text
    assert "Ended" in page and "Invite again" in page
    (new,) = links(browser.send(f"/build/people/invitations/{row.id}/renewal").text)
    assert new != old and invitations.by_token(stage.store, stage.clock(), new)
    assert (
        "kim@example.com was given stops working" in browser.get(f"/build/people/invitations/{row.id}/withdrawal").text
    )
    browser.send(f"/build/people/invitations/{row.id}/withdrawal")
    assert "The invitation is withdrawn." in browser.get("/build/people").text
    assert browser.send(f"/build/people/invitations/{row.id}/renewal").status_code == 404
    assert browser.get(f"/build/people/invitations/{row.id}/withdrawal").status_code == 404
