"""What is done to a login: the service is told of what ends with it."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from webapp.errors import Conflict
from webapp.kit.clock import MINUTE, FakeClock
from webapp.people import invitations, sessions, users
from webapp.people.logins import Logins
from webapp.store.sqlite import SQLiteStore


@dataclass
class Belongings:
    """Writes down what it is told."""

    told: list[tuple[str, str]] = field(default_factory=list)

    def end_tokens(self, tx: Any, user_id: str) -> None:
        self.told.append(("tokens", user_id))

    def remove(self, user_id: str) -> None:
        self.told.append(("removed", user_id))


def test_the_service_ends_what_belongs_to_a_login(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    belongings = Belongings()
    logins = Logins(people_store, people_clock, "https://connect.example.com", belongings)
    ada, bob = (
        users.create(people_store, people_clock, email=f"{name}@example.com", password="a long one", role=role)
        for name, role in (("ada", "owner"), ("bob", "member"))
    )
    with pytest.raises(Conflict):
        logins.change(ada.id, enabled=False)
    logins.change(bob.id, role="developer")
    assert belongings.told == []
    logins.change(bob.id, enabled=False)
    with pytest.raises(Conflict):
        logins.remove(ada.id)
    logins.remove(bob.id)
    assert belongings.told == [("tokens", bob.id), ("removed", bob.id)]


def test_when_a_person_was_last_here(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    ada = users.create(people_store, people_clock, email="ada@example.com", password="a long one", role="owner")
    assert ada.seen_at is None
    token = sessions.start(people_store, people_clock, user_id=ada.id, user_agent="", address="")
    people_clock.advance(2 * MINUTE)
    assert sessions.find(people_store, people_clock, token)
    assert users.get(people_store, ada.id).seen_at == people_clock()
    with people_store.write() as tx:
        sessions.end_all(tx, ada.id)
    assert users.get(people_store, ada.id).seen_at == people_clock()


def test_no_link_of_before_brings_a_removed_login_back(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    _, token = invitations.invite(people_store, people_clock, email="bob@example.com", role="member")
    bob = users.create(people_store, people_clock, email="bob@example.com", password="a long one", role="member")
    Logins(people_store, people_clock, "https://connect.example.com", Belongings()).remove(bob.id)
    assert invitations.by_token(people_store, people_clock(), token) is None
    assert invitations.list_open(people_store) == []
