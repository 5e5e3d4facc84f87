"""Who can sign in: addresses, roles, passwords, and answers that do not tell who exists."""

from collections.abc import Callable

import pytest

from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit.clock import FakeClock
from webapp.people import passwords, users
from webapp.store.contract import Tx
from webapp.store.sqlite import SQLiteStore

GOOD = "correct horse battery"


def test_an_address_is_kept_as_it_is_compared() -> None:
    assert users.checked_email("  Alice@Example.COM ") == ("alice@example.com", [])
    assert users.normal_email("E\u0301va@example.com") == "\u00e9va@example.com"


@pytest.mark.parametrize(
    "email",
    [
        "nobody", "a b@example.com", "a@b@example.com", "a\n@example.com", "<script>@example.com", "a@" + "x" * 260,
        "\ud800",
    ],
)  # fmt: skip
def test_what_is_no_address_is_said_so(email: str) -> None:
    (problem,) = users.checked_email(email)[1]
    assert problem.field == "email" and "name@example.com" in problem.message


def test_nothing_is_asked_for() -> None:
    assert users.checked_email("  ")[1][0].message == "Enter your e-mail address."


def make(
    store: SQLiteStore, clock: FakeClock, email: str = "alice@example.com", password: str = GOOD, role: str = "member"
) -> users.User:
    return users.create(store, clock, email=email, password=password, role=role)


def test_created_person_authenticates(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    alice = make(people_store, people_clock, email="  Alice@Example.COM ")
    assert alice.email == "alice@example.com"
    assert alice.id.startswith("u_")
    assert users.authenticate(people_store, email="ALICE@example.com", password=GOOD) == alice
    assert users.authenticate(people_store, email="alice@example.com", password=GOOD + "!") is None
    assert users.authenticate(people_store, email="bob@example.com", password=GOOD) is None
    assert users.by_id(people_store, alice.id) == users.by_email(people_store, "alice@EXAMPLE.com") == alice


def test_unknown_and_known_address_do_the_same_work(
    people_store: SQLiteStore, people_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = make(people_store, people_clock)
    checked: list[tuple[str | None, str]] = []

    def watched(stored: str | None, password: str) -> bool:
        checked.append((stored, password))
        return False

    monkeypatch.setattr(passwords, "matches", watched)
    for email in ("alice@example.com", "nobody@example.com"):
        assert users.authenticate(people_store, email=email, password="wrong password") is None
    (row,) = people_store.all("SELECT password_hash FROM users WHERE id = :id", {"id": alice.id})
    assert checked == [(row["password_hash"], "wrong password"), (None, "wrong password")]


@pytest.mark.parametrize(
    ("email", "password", "field", "says"),
    [
        ("a@example.com", "short", "password", "at least 10"),
        ("", GOOD, "email", "Enter your e-mail"),
        ("nobody", GOOD, "email", "name@example.com"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(
    people_store: SQLiteStore, people_clock: FakeClock, email: str, password: str, field: str, says: str
) -> None:
    with pytest.raises(Invalid) as caught:
        make(people_store, people_clock, email=email, password=password)
    (detail,) = caught.value.details
    assert detail.field == field
    assert says in detail.message
    assert not users.any_user(people_store)


def test_one_address_one_person(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    make(people_store, people_clock)
    with pytest.raises(Conflict, match="already has a login"):
        make(people_store, people_clock, email="ALICE@example.com")
    assert len(users.all_users(people_store)) == 1


def test_unknown_role_is_refused(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    with pytest.raises(Invalid, match="owner, developer or member"):
        users.create(people_store, people_clock, email="a@example.com", password=GOOD, role="admin")


def test_set_password_replaces_the_old_one(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    alice = make(people_store, people_clock)
    people_clock.advance(5)
    with people_store.write() as tx:
        users.set_password(tx, people_clock(), alice.id, passwords.prepared("another fine one"))
    assert users.authenticate(people_store, email=alice.email, password=GOOD) is None
    assert users.has_password(people_store, alice.id, "another fine one")
    assert not users.has_password(people_store, "u_nobody", GOOD)
    with pytest.raises(Invalid):
        passwords.prepared("short")


Change = Callable[[Tx, users.User], object]
CHANGES: dict[str, Change] = {
    "demoted": lambda tx, user: users.set_role(tx, 5, user, "member"),
    "disabled": lambda tx, user: users.set_enabled(tx, 5, user, False),
    "removed": lambda tx, user: users.remove(tx, 5, user),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_last_owner_stays(people_store: SQLiteStore, people_clock: FakeClock, change: Change) -> None:
    """Another owner who is disabled does not count."""
    alice = make(people_store, people_clock, role="owner")
    bob = make(people_store, people_clock, email="bob@example.com", role="owner")
    with people_store.write() as tx:
        bob = users.set_enabled(tx, 5, bob, False)
    with pytest.raises(Conflict, match="is the only owner"), people_store.write() as tx:
        change(tx, alice)
    assert users.by_id(people_store, alice.id) == alice
    with people_store.write() as tx:
        users.set_enabled(tx, 5, bob, True)
        change(tx, alice)
    assert users.by_id(people_store, alice.id) != alice


def test_changes_of_a_login_are_audited_and_the_same_again_is_none(
    people_store: SQLiteStore, people_clock: FakeClock
) -> None:
    bob = make(people_store, people_clock)
    with people_store.write() as tx:
        for _ in range(2):
            bob = users.set_role(tx, 5, bob, "developer")
            bob = users.set_enabled(tx, 5, bob, False)
        with pytest.raises(Invalid, match="owner, developer or member"):
            users.set_role(tx, 5, bob, "king")
        assert not bob.enabled and users.get(tx, bob.id) == bob
        bob = users.set_enabled(tx, 5, bob, True)
        users.remove(tx, 5, bob)
    with pytest.raises(NotFound, match="no such login"):
        users.get(people_store, bob.id)
    entries = people_store.all("SELECT verb FROM audit WHERE subject_id = :id ORDER BY id", {"id": bob.id})
    assert [entry["verb"] for entry in entries] == ["created", "role_changed", "disabled", "enabled", "deleted"]


@pytest.mark.parametrize("email", ["\ud800@example.com", "a'; DROP TABLE users;--", "\x00", "x" * 100_000])
def test_strange_addresses_are_merely_unknown(people_store: SQLiteStore, email: str) -> None:
    assert users.authenticate(people_store, email=email, password="\ud800" * 12) is None


def test_the_first_people_of_a_role(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    for number, role in enumerate(("owner", "member", "owner", "owner")):
        users.create(
            people_store, people_clock, email=f"{role}{number}@example.com", password="three plain words", role=role
        )
        people_clock.advance(1)
    assert [user.email for user in users.of_role(people_store, "owner", 2)] == [
        "owner0@example.com",
        "owner2@example.com",
    ]
    assert users.of_role(people_store, "developer", 2) == []
