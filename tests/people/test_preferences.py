"""What a person chose: defaults, keeping it, refusing what there is not."""

import pytest

from webapp.errors import Invalid
from webapp.kit.clock import FakeClock
from webapp.people import preferences, users
from webapp.people.preferences import Preferences
from webapp.store.sqlite import SQLiteStore


@pytest.fixture
def alice(store: SQLiteStore, clock: FakeClock) -> str:
    return users.create(store, clock, email="alice@example.com", password="a long password", role="owner").id


def test_nobody_has_to_choose(store: SQLiteStore, alice: str) -> None:
    assert preferences.of_user(store, alice) == Preferences("auto", "", "")


def test_the_last_choice_counts(store: SQLiteStore, clock: FakeClock, alice: str) -> None:
    for chosen in (Preferences("dark", "Asia/Tokyo", "en"), Preferences("light", "UTC", "en")):
        preferences.save(store, clock, alice, chosen)
        assert preferences.of_user(store, alice) == chosen


def test_what_is_no_longer_known_falls_back(store: SQLiteStore, clock: FakeClock, alice: str) -> None:
    preferences.save(store, clock, alice, Preferences("dark", "UTC", "en"))
    with store.write() as tx:
        tx.run("UPDATE preferences SET time_zone = 'Gone/Zone', language = 'xx'")
    assert preferences.of_user(store, alice) == Preferences("dark", "", "")


def test_each_field_says_what_is_wrong(store: SQLiteStore, clock: FakeClock, alice: str) -> None:
    with pytest.raises(Invalid) as caught:
        preferences.save(store, clock, alice, Preferences("pink", "../etc/passwd", "xx"))
    assert [detail.field for detail in caught.value.details] == ["theme", "time_zone", "language"]
    assert preferences.of_user(store, alice) == Preferences()


def test_zones_are_places() -> None:
    zones = preferences.time_zones()
    assert zones[:2] == ("", "UTC")
    assert {"Europe/Berlin", "America/Argentina/Buenos_Aires"} <= set(zones)
    assert not any(name.startswith("Etc/") for name in zones)
