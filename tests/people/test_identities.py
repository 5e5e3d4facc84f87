"""One identity per login and provider."""

import pytest

from webapp.errors import Conflict
from webapp.kit.clock import FakeClock
from webapp.people import identities, users
from webapp.store.sqlite import SQLiteStore

ISSUER = "https://id.example.com"


def test_a_login_has_one_identity_at_a_provider(people_store: SQLiteStore, people_clock: FakeClock) -> None:
    ada, bob = (
        users.create(people_store, people_clock, email=f"{name}@example.com", password="a long one", role="owner")
        for name in ("ada", "bob")
    )
    with people_store.write() as tx:
        identities.bind(tx, 1, ada, ISSUER, "1")
        identities.bind(tx, 1, bob, "https://other.example.com", "1")
    for user, subject in ((ada, "2"), (bob, "1")):
        with pytest.raises(Conflict), people_store.write() as tx:
            identities.bind(tx, 1, user, ISSUER, subject)
    found = identities.by_subject(people_store, ISSUER, "1")
    assert found and found.user_id == ada.id and identities.of_user(people_store, ISSUER, ada.id) == found
    assert identities.of_user(people_store, ISSUER, bob.id) is None
    with people_store.write() as tx:
        users.remove(tx, 2, ada)
    assert identities.by_subject(people_store, ISSUER, "1") is None
