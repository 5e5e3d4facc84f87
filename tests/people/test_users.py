"""Who can sign in: addresses, passwords, and answers that do not tell who exists."""

from typing import Any

import pytest

from webapp.errors import Conflict, Invalid
from webapp.kit.clock import FakeClock
from webapp.people import users
from webapp.store.sqlite import SQLiteStore

GOOD = "correct horse battery"


def make(store: SQLiteStore, clock: FakeClock, email: str = "alice@example.com", password: str = GOOD) -> users.User:
    return users.create(store, clock, email=email, password=password, role="member")


def test_created_person_authenticates(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    alice = make(people_store, people_clock, email="  Alice@Example.COM ")
    assert alice.email == "alice@example.com"
    assert alice.id.startswith("u_")
    assert users.authenticate(people_store, email="ALICE@example.com", password=GOOD) == alice
    assert users.authenticate(people_store, email="alice@example.com", password=GOOD + "!") is None
    assert users.authenticate(people_store, email="bob@example.com", password=GOOD) is None
    assert users.by_id(people_store, alice.id) == users.by_email(people_store, "alice@EXAMPLE.com") == alice


def test_password_is_stored_as_argon2id_alone(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    make(people_store, people_clock)
    (row,) = people_store.all("SELECT * FROM users")
    assert row["password_hash"].startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert GOOD not in str(row)


def test_unknown_and_known_address_do_the_same_work(
    people_store: SQLiteStore, people_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(people_store, people_clock)
    seen: list[Any] = []
    verify = users._verify

    def watched(stored: Any, given: Any) -> Any:
        seen.append(stored)
        return verify(stored, given)

    monkeypatch.setattr(users, "_verify", watched)
    users.authenticate(people_store, email="alice@example.com", password="wrong password")
    users.authenticate(people_store, email="nobody@example.com", password="wrong password")
    assert len(seen) == 2
    known, unknown = (stored.rsplit("$", 2)[0] for stored in seen)
    assert known == unknown  # same algorithm, version, memory, passes and lanes: the same cost


@pytest.mark.parametrize(
    "password", ["пароль подлиннее", "🔑" * 10, "tab\tand\x00nul inside", "x" * 1_000, " " * 10, "ﬁve ﬁne ﬁsh"]
)
def test_any_unicode_makes_a_password(people_store: SQLiteStore, people_clock: FakeClock, password: str) -> None:
    alice = make(people_store, people_clock, password=password)
    assert users.authenticate(people_store, email=alice.email, password=password) == alice


def test_composed_and_decomposed_password_are_the_same(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    alice = make(people_store, people_clock, password="café au lait")
    assert users.authenticate(people_store, email=alice.email, password="café au lait") == alice


@pytest.mark.parametrize(
    ("email", "password", "field", "says"),
    [
        ("a@example.com", "short", "password", "at least 10"),
        ("a@example.com", "x" * 1_001, "password", "at most 1,000"),
        ("a@example.com", "lone surrogate \ud800", "password", "cannot be stored"),
        ("", GOOD, "email", "Enter your e-mail"),
        ("nobody", GOOD, "email", "name@example.com"),
        ("a b@example.com", GOOD, "email", "name@example.com"),
        ("a@b@example.com", GOOD, "email", "name@example.com"),
        ("a\n@example.com", GOOD, "email", "name@example.com"),
        ("<script>@example.com", GOOD, "email", "name@example.com"),
        ("a@" + "x" * 260, GOOD, "email", "name@example.com"),
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
    users.set_password(people_store, people_clock, user_id=alice.id, password="another fine one")
    assert users.authenticate(people_store, email=alice.email, password=GOOD) is None
    assert users.has_password(people_store, alice.id, "another fine one")
    assert not users.has_password(people_store, "u_nobody", GOOD)
    with pytest.raises(Invalid):
        users.set_password(people_store, people_clock, user_id=alice.id, password="short")


@pytest.mark.parametrize("email", ["\ud800@example.com", "a'; DROP TABLE users;--", "\x00", "x" * 100_000])
def test_strange_addresses_are_merely_unknown(people_store: SQLiteStore, email: str) -> None:
    assert users.authenticate(people_store, email=email, password="\ud800" * 12) is None
