"""With the start token, and only with it, the first visitor becomes the owner; once."""

from typing import Any

import pytest

from webapp.errors import Detail, Forbidden, Invalid
from webapp.kit.clock import FakeClock
from webapp.people import start_tokens, users
from webapp.people.start_tokens import ProjectNames
from webapp.store.contract import Tx
from webapp.store.sqlite import SQLiteStore

PASSWORD = "a long password"


def owner(store: SQLiteStore, clock: FakeClock, token: str, password: str = PASSWORD) -> users.User:
    return start_tokens.create_owner(store, clock, token=token, email="alice@example.com", password=password)


def test_token_makes_the_owner_once(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    token = start_tokens.issue(people_store, people_clock)
    assert token is not None
    assert token not in str(people_store.all("SELECT * FROM start_tokens"))
    made = owner(people_store, people_clock, token)
    assert made.role == "owner"
    (deed,) = people_store.all("SELECT actor_kind, actor FROM audit")
    assert deed == {"actor_kind": "person", "actor": made.id}
    assert not start_tokens.is_valid(people_store, people_clock, token)
    with pytest.raises(Forbidden):
        start_tokens.create_owner(
            people_store, people_clock, token=token, email="mallory@example.com", password=PASSWORD
        )
    assert start_tokens.issue(people_store, people_clock) is None
    assert [user.email for user in users.all_users(people_store)] == ["alice@example.com"]


def test_wrong_and_old_tokens_make_nobody(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    first = start_tokens.issue(people_store, people_clock)
    second = start_tokens.issue(people_store, people_clock)
    assert first is not None and second is not None and first != second
    for token in ("", "guess", first):
        with pytest.raises(Forbidden):
            owner(people_store, people_clock, token)
    people_clock.advance(start_tokens.LIFETIME)
    with pytest.raises(Forbidden):
        owner(people_store, people_clock, second)
    assert not users.any_user(people_store)


def test_a_mistake_leaves_the_token_usable(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    token = start_tokens.issue(people_store, people_clock)
    assert token is not None
    with pytest.raises(Invalid):
        owner(people_store, people_clock, token, password="short")
    assert owner(people_store, people_clock, token).email == "alice@example.com"


class Named:
    """A project that keeps its names, unless the transaction comes to nothing."""

    def names(self) -> ProjectNames:
        return ProjectNames("", "")

    def problems(self, names: ProjectNames) -> list[Detail]:
        return [] if names.app_name else [Detail("app_name", "Say what it is called.")]

    def save(self, tx: Tx, names: ProjectNames) -> None:
        tx.run("INSERT INTO settings_kept VALUES (:name)", {"name": names.app_name})


def test_the_project_is_named_with_the_owner_or_not_at_all(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    token = start_tokens.issue(people_store, people_clock)
    new: dict[str, Any] = {"token": token, "email": "alice@example.com", "password": PASSWORD, "project": Named()}
    with pytest.raises(Invalid) as caught:
        start_tokens.create_owner(people_store, people_clock, **{**new, "email": "alice"})
    assert [detail.field for detail in caught.value.details] == ["app_name", "email"]
    with pytest.raises(Exception, match="settings_kept"):  # the table is not there: naming fails
        start_tokens.create_owner(people_store, people_clock, **new, names=ProjectNames("Acme", ""))
    assert not users.any_user(people_store)
    with people_store.write() as tx:
        tx.run("CREATE TABLE settings_kept (name TEXT)")
    start_tokens.create_owner(people_store, people_clock, **new, names=ProjectNames("Acme", ""))
    assert people_store.all("SELECT name FROM settings_kept") == [{"name": "Acme"}]


def test_a_user_made_elsewhere_voids_the_token(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    token = start_tokens.issue(people_store, people_clock)
    assert token is not None
    users.create(people_store, people_clock, email="cli@example.com", password=PASSWORD, role="owner")
    assert not start_tokens.is_valid(people_store, people_clock, token)
    with pytest.raises(Forbidden):
        owner(people_store, people_clock, token)
