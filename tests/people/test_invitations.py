"""Invitations: one per address, good once and for a week, and for as long as the inviter is an owner."""

import pytest

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Conflict, Forbidden, Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import DAY, FakeClock
from webapp.people import invitations, users
from webapp.people.invitations import Invitation
from webapp.people.users import User
from webapp.store.sqlite import SQLiteStore

PASSWORD = "a long password"


@pytest.fixture
def alice(people_store: SQLiteStore, people_clock: FakeClock) -> User:
    return users.create(people_store, people_clock, email="alice@example.com", password=PASSWORD, role="owner")


@pytest.fixture
def invited(people_store: SQLiteStore, people_clock: FakeClock, alice: User) -> tuple[Invitation, str]:
    """Lena, whom alice invited."""
    with audit.acting(Actor("person", alice.id)):
        return invitations.invite(people_store, people_clock, email=" Lena@Example.com", role="developer")


def test_the_addresses_of_a_text() -> None:
    text = "lee@example.com, Kim@example.com;\n\nlee@example.com\tnobody"
    assert invitations.addresses(text) == ["lee@example.com", "kim@example.com", "nobody"]
    assert invitations.addresses(" ,\n") == []


def test_an_invitation_makes_one_login(
    people_store: SQLiteStore, people_clock: FakeClock, alice: User, invited: tuple[Invitation, str]
) -> None:
    invitation, token = invited
    assert (invitation.email, invitation.role, invitation.invited_by) == ("lena@example.com", "developer", alice.id)
    assert invitation.expires_at == people_clock() + 7 * DAY
    assert token not in str(people_store.all("SELECT * FROM invitations")) and invitation.token_hash not in repr(
        invited
    )
    assert invitations.link("https://a.example", token) == f"https://a.example/invitation?token={token}"
    assert invitations.by_token(people_store, people_clock(), token) == invitation
    with pytest.raises(Invalid):
        invitations.accept(people_store, people_clock, token=token, password="short")
    lena = invitations.accept(people_store, people_clock, token=token, password=PASSWORD)
    assert (lena.email, lena.role) == ("lena@example.com", "developer")
    assert users.authenticate(people_store, email=lena.email, password=PASSWORD) == lena
    for used in (token, "guess", ""):
        with pytest.raises(Forbidden):
            invitations.accept(people_store, people_clock, token=used, password=PASSWORD)
    assert invitations.list_open(people_store) == []
    entries = people_store.all("SELECT noun, verb, actor FROM audit ORDER BY id")[1:]
    assert [(entry["noun"], entry["verb"], entry["actor"]) for entry in entries] == [
        ("invitation", "created", alice.id), ("person", "created", lena.id),
    ]  # fmt: skip


def test_inviting_again_ends_the_link_before(
    people_store: SQLiteStore, people_clock: FakeClock, invited: tuple[Invitation, str]
) -> None:
    people_clock.advance(8 * DAY)
    invitation, token = invited
    assert not invitations.is_valid(people_store, people_clock(), invitation)
    again, other = invitations.renew(people_store, people_clock, invitation.id)
    assert (again.id, again.role) == (invitation.id, "developer") and again.expires_at == people_clock() + 7 * DAY
    assert invitations.by_token(people_store, people_clock(), token) is None
    assert invitations.by_token(people_store, people_clock(), other) == again
    assert invitations.by_email(people_store, people_clock(), "LENA@example.com") == again
    assert invitations.page(people_store, cursors.Window()).items == [again]
    with pytest.raises(NotFound):
        invitations.renew(people_store, people_clock, "inv_none")


def test_a_link_ends_when_it_is_withdrawn(
    people_store: SQLiteStore, people_clock: FakeClock, invited: tuple[Invitation, str]
) -> None:
    invitation, token = invited
    with people_store.write() as tx:
        invitations.withdraw(tx, people_clock(), invitation.id)
    assert invitations.by_token(people_store, people_clock(), token) is None
    with pytest.raises(NotFound), people_store.write() as tx:
        invitations.withdraw(tx, people_clock(), invitation.id)


@pytest.mark.parametrize("change", ["disabled", "demoted", "removed"])
def test_what_a_former_owner_invited_counts_no_more(
    people_store: SQLiteStore, people_clock: FakeClock, alice: User, invited: tuple[Invitation, str], change: str
) -> None:
    users.create(people_store, people_clock, email="olga@example.com", password=PASSWORD, role="owner")
    with people_store.write() as tx:
        if change == "disabled":
            users.set_enabled(tx, people_clock(), alice, False)
        elif change == "demoted":
            users.set_role(tx, people_clock(), alice, "developer")
        else:
            users.remove(tx, people_clock(), alice)
    with pytest.raises(Forbidden):
        invitations.accept(people_store, people_clock, token=invited[1], password=PASSWORD)
    assert invitations.list_open(people_store) == [invited[0]]


def test_who_has_a_login_is_not_invited(
    people_store: SQLiteStore, people_clock: FakeClock, alice: User, invited: tuple[Invitation, str]
) -> None:
    with pytest.raises(Conflict, match="already has a login"):
        invitations.invite(people_store, people_clock, email="Alice@example.com", role="member")
    for email, role in (("lena", "member"), ("", "member"), ("kim@example.com", "king")):
        with pytest.raises(Invalid):
            invitations.invite(people_store, people_clock, email=email, role=role)
    users.create(people_store, people_clock, email="lena@example.com", password=PASSWORD, role="member")
    assert invitations.list_open(people_store) == []
    assert invitations.by_token(people_store, people_clock(), invited[1]) is None
    with pytest.raises(NotFound):
        invitations.get(people_store, invited[0].id)


def test_what_ended_long_ago_is_forgotten_when_somebody_is_invited(
    people_store: SQLiteStore, people_clock: FakeClock, invited: tuple[Invitation, str]
) -> None:
    people_clock.advance(invitations.LIFETIME + invitations.REMEMBERED)
    kim, _ = invitations.invite(people_store, people_clock, email="kim@example.com", role="member")
    assert invitations.list_open(people_store) == [kim, invited[0]]
    people_clock.advance(1)
    again, _ = invitations.renew(people_store, people_clock, kim.id)
    assert invitations.list_open(people_store) == [again]


def test_all_of_several_are_invited_or_nobody(people_store: SQLiteStore, people_clock: FakeClock, alice: User) -> None:
    everybody = ["kim@example.com", alice.email]
    with pytest.raises(Conflict):
        invitations.invite_all(people_store, people_clock, addressees=everybody, role="member")
    assert invitations.list_open(people_store) == []
    rows = invitations.invite_all(
        people_store, people_clock, addressees=["kim@example.com", "x@y.example"], role="member"
    )
    assert [row.email for row, _token in rows] == ["kim@example.com", "x@y.example"]
