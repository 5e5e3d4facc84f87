"""Whom a provider's word lets in, as whom, and with which role."""

from collections.abc import Callable

import pytest

from webapp.kit.clock import FakeClock
from webapp.people import api_keys, identities, invitations, sessions, single_sign_on, users
from webapp.people.openid_provider import Claims, NotSignedIn
from webapp.people.single_sign_on import Rules
from webapp.people.users import User
from webapp.store.sqlite import SQLiteStore

ISSUER = "https://id.example.com"
NO_ROLES = Rules("Acme", ())
ROLES = Rules("Acme", (("admins", "owner"), ("builders", "developer"), ("staff", "member")))
Admit = Callable[..., User]


@pytest.fixture
def ada(people_store: SQLiteStore, people_clock: FakeClock) -> User:
    return users.create(people_store, people_clock, email="ada@example.com", password="a long one", role="owner")


@pytest.fixture
def admit(people_store: SQLiteStore, people_clock: FakeClock) -> Admit:
    def admit(email: str, *groups: str, subject: str = "", verified: bool = True, rules: Rules = NO_ROLES) -> User:
        claims = Claims(ISSUER, subject or email, email, verified, frozenset(groups))
        return single_sign_on.admit(people_store, people_clock, rules, claims)

    return admit


def test_an_address_that_is_not_confirmed_matches_nobody(
    people_store: SQLiteStore, people_clock: FakeClock, ada: User, admit: Admit
) -> None:
    invitations.invite(people_store, people_clock, email="lena@example.com", role="member")
    for email in ("ada@example.com", "LENA@example.com"):
        for rules in (NO_ROLES, ROLES):
            with pytest.raises(NotSignedIn, match="does not confirm that this address is yours"):
                admit(email, "admins", verified=False, rules=rules)
    assert identities.of_user(people_store, ISSUER, ada.id) is None
    assert admit("Ada@example.com", subject="1").id == ada.id
    with pytest.raises(NotSignedIn, match="belongs to another person at Acme"):
        admit("ada@example.com", subject="somebody else")
    assert admit("new@example.com", subject="1", verified=False).id == ada.id


def test_who_has_no_address_is_told_so(ada: User, admit: Admit) -> None:
    with pytest.raises(NotSignedIn, match="did not share your e-mail address"):
        admit("", subject="1")


def test_an_invitation_lets_somebody_in_once(
    people_store: SQLiteStore, people_clock: FakeClock, ada: User, admit: Admit
) -> None:
    with pytest.raises(NotSignedIn, match=r"lena@example\.com has no login here yet"):
        admit("lena@example.com")
    _, token = invitations.invite(people_store, people_clock, email="lena@example.com", role="developer")
    lena = admit("lena@example.com")
    assert lena.role == "developer" and admit("lena@example.com").id == lena.id
    assert invitations.by_token(people_store, people_clock(), token) is None
    assert not users.has_any_password(people_store, lena.id)
    assert users.authenticate(people_store, email="lena@example.com", password="") is None


def test_roles_follow_the_groups(people_store: SQLiteStore, ada: User, admit: Admit) -> None:
    assert admit("bob@example.com", "staff", "builders", rules=ROLES).role == "developer"
    assert admit("bob@example.com", "staff", rules=ROLES).role == "member"
    assert admit("bob@example.com", "admins", rules=ROLES).role == "owner"
    assert admit("ada@example.com", "staff", rules=ROLES).role == "member", "bob is an owner, too"
    assert admit("bob@example.com", "staff", rules=ROLES).role == "owner", "somebody has to be"
    assert admit("bob@example.com", rules=ROLES).role == "owner"
    assert admit("kim@example.com", rules=Rules("Acme", (("*", "member"),))).role == "member"


def test_who_is_in_no_group_any_more_is_out(
    people_store: SQLiteStore, people_clock: FakeClock, ada: User, admit: Admit
) -> None:
    with pytest.raises(NotSignedIn, match="None of your groups at Acme may sign in here"):
        admit("bob@example.com", "guests", rules=ROLES)
    bob = admit("bob@example.com", "builders", rules=ROLES)
    session = sessions.start(people_store, people_clock, user_id=bob.id, user_agent="", address="")
    key = api_keys.create(people_store, people_clock, bob.id)
    with pytest.raises(NotSignedIn, match="None of your groups"):
        admit("bob@example.com", "guests", rules=ROLES)
    assert api_keys.owner_id(people_store, key) is None
    assert sessions.find(people_store, people_clock, session) is None
    assert users.get(people_store, bob.id).role == "developer"


def test_the_first_person_is_an_owner_or_nobody(people_store: SQLiteStore, admit: Admit) -> None:
    with pytest.raises(NotSignedIn, match="an owner must sign up first"):
        admit("bob@example.com", "staff", rules=ROLES)
    assert not users.any_user(people_store)
    assert admit("ada@example.com", "admins", rules=ROLES, verified=False).role == "owner"


def test_a_disabled_login_is_left_as_it_is(
    people_store: SQLiteStore, people_clock: FakeClock, ada: User, admit: Admit
) -> None:
    bob = admit("bob@example.com", "builders", rules=ROLES)
    with people_store.write() as tx:
        users.set_enabled(tx, people_clock(), bob, False)
    after = admit("bob@example.com", "staff", rules=ROLES)
    assert not after.enabled and after.role == "developer"
