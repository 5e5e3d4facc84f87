"""Passkeys: made by a device that checked who is there, for this site, and each answer counts once."""

import json
from typing import Any

import pytest

from tests.people.authenticator import PRESENT, Authenticator
from webapp.errors import Invalid, NotFound
from webapp.kit.clock import FakeClock
from webapp.people import challenges, passkeys, users
from webapp.people.passkeys import RelyingParty
from webapp.people.users import User
from webapp.store.sqlite import SQLiteStore

SITE = RelyingParty("localhost", "http://localhost")


@pytest.fixture
def alice(people_store: SQLiteStore, people_clock: FakeClock) -> User:
    return users.create(people_store, people_clock, email="alice@example.com", password="a long one", role="member")


@pytest.fixture
def device() -> Authenticator:
    return Authenticator()


def add(store: SQLiteStore, clock: FakeClock, user: User, device: Authenticator, name: str = "Phone") -> Any:
    challenge = challenges.new()
    return passkeys.add(store, clock, SITE, user, challenge, device.create(challenge), name)


def test_a_device_signs_its_person_in(
    people_store: SQLiteStore, people_clock: FakeClock, alice: User, device: Authenticator
) -> None:
    made = add(people_store, people_clock, alice, device, " Phone\ud800\0 ")
    assert (made.name, made.used_at) == ("Phone", None)
    known = json.loads(passkeys.creation_options(people_store, SITE, alice, b"c" * 32))
    assert [item["id"] for item in known["excludeCredentials"]] == [made.id]
    assert known["authenticatorSelection"]["userVerification"] == "required"
    assert json.loads(passkeys.request_options(SITE, b"c" * 32))["userVerification"] == "required"
    challenge = challenges.new()
    answer = device.get(challenge)
    assert passkeys.authenticate(people_store, people_clock, SITE, challenge, answer) == alice
    (kept,) = passkeys.of_user(people_store, alice.id)
    assert passkeys.user_ids(people_store) == {alice.id}
    assert (kept.sign_count, kept.used_at) == (1, people_clock())
    with pytest.raises(Invalid):
        passkeys.authenticate(people_store, people_clock, SITE, challenge, answer)


@pytest.mark.parametrize("change", [{"origin": "https://evil.example"}, {"party": "evil.example"}, {"flags": PRESENT}])
def test_what_another_site_or_nobody_in_particular_signed_does_not_count(
    people_store: SQLiteStore, people_clock: FakeClock, alice: User, device: Authenticator, change: dict[str, Any]
) -> None:
    with pytest.raises(Invalid, match="Try another"):
        add(people_store, people_clock, alice, Authenticator(**change))
    add(people_store, people_clock, alice, device)
    for name, value in change.items():
        setattr(device, name, value)
    challenge = challenges.new()
    with pytest.raises(Invalid, match="not known here"):
        passkeys.authenticate(people_store, people_clock, SITE, challenge, device.get(challenge))


def test_another_challenge_an_old_count_and_noise_do_not_count(
    people_store: SQLiteStore, people_clock: FakeClock, alice: User, device: Authenticator
) -> None:
    device.count = 7
    add(people_store, people_clock, alice, device)
    challenge = challenges.new()
    late = device.get(challenges.new())
    device.count = 3
    stranger = Authenticator().get(challenge)
    for answer in (late, device.get(challenge), stranger, {}, {"id": "\ud800"}, {**late, "response": {}}):
        with pytest.raises(Invalid, match="not known here"):
            passkeys.authenticate(people_store, people_clock, SITE, challenge, answer)


def test_a_key_is_added_once_and_removed_by_its_person(
    people_store: SQLiteStore, people_clock: FakeClock, alice: User, device: Authenticator
) -> None:
    made = add(people_store, people_clock, alice, device)
    with pytest.raises(Invalid, match="already"):
        add(people_store, people_clock, alice, device)
    with people_store.write() as tx:
        with pytest.raises(NotFound):
            passkeys.remove(tx, 0, "u_other", made.id)
        assert passkeys.remove_all(tx, 0, alice.id) == 1 and passkeys.of_user(tx, alice.id) == []
    entries = people_store.all("SELECT verb FROM audit ORDER BY id")
    assert [entry["verb"] for entry in entries] == ["created", "passkey_added", "passkey_removed"]
