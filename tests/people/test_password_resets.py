"""A link for a new password: one per person, good once and for a day."""

import pytest

from webapp.errors import Conflict, Forbidden, Invalid
from webapp.kit.clock import DAY, FakeClock
from webapp.people import password_resets, sessions, users
from webapp.store.sqlite import SQLiteStore

OLD, NEW = "a long password", "another long one"


@pytest.fixture
def alice(people_store: SQLiteStore, people_clock: FakeClock) -> users.User:
    return users.create(people_store, people_clock, email="alice@example.com", password=OLD, role="member")


def test_a_link_sets_the_password_once_and_signs_out(
    people_store: SQLiteStore, people_clock: FakeClock, alice: users.User
) -> None:
    session = sessions.start(people_store, people_clock, user_id=alice.id, user_agent="", address="")
    voided, _ = password_resets.issue(people_store, people_clock, alice)
    token, expires_at = password_resets.issue(people_store, people_clock, alice)
    assert expires_at == people_clock() + DAY
    assert token not in str(people_store.all("SELECT * FROM password_resets"))
    assert password_resets.user_of_token(people_store, people_clock, token) == users.get(people_store, alice.id)
    with pytest.raises(Invalid):
        password_resets.redeem(people_store, people_clock, token=token, password="short")
    password_resets.redeem(people_store, people_clock, token=token, password=NEW)
    assert users.has_password(people_store, alice.id, NEW)
    assert sessions.find(people_store, people_clock, session) is None
    for used in (voided, token, "guess", ""):
        with pytest.raises(Forbidden):
            password_resets.redeem(people_store, people_clock, token=used, password=OLD)
    entries = people_store.all("SELECT verb, actor FROM audit WHERE noun = 'person' ORDER BY id")[1:]
    assert [(entry["verb"], entry["actor"]) for entry in entries] == [
        ("reset_issued", "patchbay"), ("reset_issued", "patchbay"), ("password_changed", alice.id),
    ]  # fmt: skip


def test_a_link_ends_after_a_day_and_with_the_login(
    people_store: SQLiteStore, people_clock: FakeClock, alice: users.User
) -> None:
    token, _ = password_resets.issue(people_store, people_clock, alice)
    with people_store.write() as tx:
        disabled = users.set_enabled(tx, people_clock(), alice, False)
    assert password_resets.user_of_token(people_store, people_clock, token) is None
    with pytest.raises(Conflict, match="enable it first"):
        password_resets.issue(people_store, people_clock, disabled)
    with people_store.write() as tx:
        users.set_enabled(tx, people_clock(), disabled, True)
    people_clock.advance(DAY)
    assert password_resets.user_of_token(people_store, people_clock, token) is None
