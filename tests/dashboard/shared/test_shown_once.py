"""Secrets for the page that follows: whichever process draws it shows them, and nobody else ever does."""

import pytest

from webapp.dashboard.shared.shown_once import LIFETIME, ShownOnce
from webapp.kit.clock import FakeClock
from webapp.store.sqlite import SQLiteStore

KEY = b"k" * 32


@pytest.fixture
def kept(store: SQLiteStore, clock: FakeClock) -> ShownOnce:
    return ShownOnce(store, clock, KEY)


def test_another_process_shows_it_until_it_was_seen(kept: ShownOnce) -> None:
    kept.put("ada keys", "The first", "secret-1")
    kept.put("ada keys", "The key", "secret-2")
    other = ShownOnce(kept.store, kept.clock, KEY)
    assert other.get("ada keys") == other.get("ada keys") == ("The key", "secret-2")
    assert other.get("ben keys") is None
    other.drop("ada keys")
    assert kept.get("ada keys") is None


def test_it_is_sealed_and_ends_with_its_time(kept: ShownOnce, clock: FakeClock) -> None:
    kept.put("ada keys", "The key", "secret-1")
    (row,) = kept.store.all("SELECT * FROM shown_once")
    assert b"secret-1" not in row["secret_box"]
    assert ShownOnce(kept.store, clock, b"x" * 32).get("ada keys") is None, "a key that was replaced opens nothing"
    clock.advance(LIFETIME)
    assert kept.get("ada keys") is None
    kept.put("ben keys", "The key", "secret-2")
    assert [each["name"] for each in kept.store.all("SELECT name FROM shown_once")] == ["ben keys"]
