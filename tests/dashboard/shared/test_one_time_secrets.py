"""Secrets for the page that follows: whichever process draws it shows them, and nobody else ever does."""

import pytest

from webapp.dashboard.shared.one_time_secrets import LIFETIME, OneTimeSecrets
from webapp.kit.clock import FakeClock
from webapp.store.sqlite import SQLiteStore

KEY = b"k" * 32


@pytest.fixture
def secrets(store: SQLiteStore, clock: FakeClock) -> OneTimeSecrets:
    return OneTimeSecrets(store, clock, KEY)


def test_another_process_shows_it_until_it_was_seen(secrets: OneTimeSecrets) -> None:
    secrets.put("ada keys", "The first", "secret-1")
    secrets.put("ada keys", "The key", "secret-2")
    other = OneTimeSecrets(secrets.store, secrets.clock, KEY)
    assert other.get("ada keys") == other.get("ada keys") == ("The key", "secret-2")
    assert other.get("ben keys") is None
    other.drop("ada keys")
    assert secrets.get("ada keys") is None


def test_it_is_sealed_and_ends_with_its_time(secrets: OneTimeSecrets, clock: FakeClock) -> None:
    secrets.put("ada keys", "The key", "secret-1")
    (row,) = secrets.store.all("SELECT * FROM shown_once")
    assert b"secret-1" not in row["secret_box"]
    assert OneTimeSecrets(secrets.store, clock, b"x" * 32).get("ada keys") is None, (
        "a key that was replaced opens nothing"
    )
    clock.advance(LIFETIME)
    assert secrets.get("ada keys") is None
    secrets.put("ben keys", "The key", "secret-2")
    assert [each["name"] for each in secrets.store.all("SELECT name FROM shown_once")] == ["ben keys"]
