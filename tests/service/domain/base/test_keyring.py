"""The instance key: made once in its file, or given by the setting.

Which values of PATCHBAY_SECRET_KEY can be guessed.

Keys: where the instance key comes from, what it refuses to open, and what a sealed field is bound to.
"""

import secrets
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from webapp.kit.clock import FakeClock
from webapp.kit.crypto import CannotOpen, new_key
from webapp.service.domain.base.keyring import (
    KeyGone,
    Keyring,
    MissingKey,
    Place,
    ProjectGone,
    WrongKey,
    is_weak,
    load_instance_key,
)
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore

INSTANCE_KEY = new_key()
PLACE = Place("proj_1", "accounts", "apn_1", "credentials")


def test_the_key_file_is_made_once_and_for_the_owner_only(settings: Settings) -> None:
    first = load_instance_key(settings, new=True)
    path = settings.data / "keys"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_instance_key(settings, new=True) == first
    assert [file.name for file in settings.data.iterdir()] == ["keys"]


def test_the_setting_wins_over_the_file(data: Path) -> None:
    settings = Settings.from_env({"PATCHBAY_SECRET_KEY": "s" * 40}, data=data)
    assert load_instance_key(settings, new=True) == load_instance_key(settings, new=True)
    assert not (data / "keys").exists()


def test_a_missing_key_file_is_made_for_a_new_database_only(settings: Settings) -> None:
    with pytest.raises(MissingKey, match=r"keys is missing.*Put it back"):
        load_instance_key(settings, new=False)
    assert list(settings.data.iterdir()) == []


@pytest.mark.parametrize(
    "key",
    ["a" * 64, "password" * 4, "0123456789abcdef" * 4, "qwertyuiopasdfghjklzxcvbnm1234567890", "changeme-" * 4],
)
def test_what_repeats_or_is_typed_in_a_row_is_weak(key: str) -> None:
    assert is_weak(key)


@pytest.mark.parametrize(
    "key",
    [secrets.token_hex(32), secrets.token_urlsafe(24), "correct horse battery staple forever"],
    ids=["hex", "base64", "words"],  # the same in every process that collects
)
def test_what_is_random_is_not(key: str) -> None:
    assert not is_weak(key)


def seal(store: SQLiteStore, keys: Keyring, place: Place, plain: bytes) -> tuple[bytes, int]:
    with store.write() as tx:
        return keys.seal(tx, place, plain)


def seal_box(store: SQLiteStore, keys: Keyring, place: Place, plain: bytes) -> bytes:
    with store.write() as tx:
        return keys.seal_box(tx, place, plain)


@pytest.fixture
def keys(store: SQLiteStore, clock: FakeClock) -> Keyring:
    ring = Keyring(store, INSTANCE_KEY, clock)
    ring.prove()
    with store.write() as tx:
        ring.add_project(tx, "proj_1")
        ring.add_project(tx, "proj_2")
    return ring


def test_a_wrong_key_refuses(keys: Keyring, store: SQLiteStore, clock: FakeClock) -> None:
    keys.prove()
    with pytest.raises(WrongKey, match="does not open this database"):
        Keyring(store, new_key(), clock).prove()


def test_a_sealed_field_opens_in_its_own_place_only(keys: Keyring, store: SQLiteStore) -> None:
    sealed, version = seal(store, keys, PLACE, b"canary")
    assert b"canary" not in sealed
    assert keys.open(PLACE, sealed, version) == b"canary"
    for field, other in (("project_id", "proj_2"), ("table", "x"), ("row", "apn_2"), ("field", "x")):
        with pytest.raises(CannotOpen):
            keys.open(replace(PLACE, **{field: other}), sealed, version)


def test_a_changed_box_does_not_open(keys: Keyring, store: SQLiteStore) -> None:
    box = bytearray(seal_box(store, keys, PLACE, b"canary"))
    assert keys.open_box(PLACE, bytes(box)) == b"canary"
    box[-1] ^= 1
    with pytest.raises(CannotOpen):
        keys.open_box(PLACE, bytes(box))


def test_another_process_with_the_same_key_opens_what_this_one_sealed(store: SQLiteStore, clock: FakeClock) -> None:
    key = new_key()
    one = Keyring(store, key, clock)
    one.prove()
    with store.write() as tx:
        one.add_project(tx, "proj_1")
    sealed, version = seal(store, one, PLACE, b"canary")
    assert Keyring(store, key, clock).open(PLACE, sealed, version) == b"canary"


def test_the_installation_has_a_data_key_of_its_own(keys: Keyring, store: SQLiteStore) -> None:
    place = replace(PLACE, project_id="instance")
    assert keys.open_box(place, seal_box(store, keys, place, b"x")) == b"x"


def test_a_project_without_a_key_is_a_bug(keys: Keyring, store: SQLiteStore) -> None:
    with pytest.raises(LookupError):
        seal(store, keys, replace(PLACE, project_id="proj_none"), b"x")


def test_a_new_version_is_used_at_once_by_every_process_and_the_old_one_still_opens(
    store: SQLiteStore, clock: FakeClock
) -> None:
    key = new_key()
    one, other = Keyring(store, key, clock), Keyring(store, key, clock)
    one.prove()
    with store.write() as tx:
        one.add_project(tx, "proj_1")
    before = seal(store, other, PLACE, b"canary")
    with store.write() as tx:
        assert one.add_version(tx, "proj_1") == 2
    after = seal(store, other, PLACE, b"canary")
    assert (before[1], after[1]) == (1, 2)
    assert other.open(PLACE, *before) == other.open(PLACE, *after) == one.open(PLACE, *before) == b"canary"


def test_a_deleted_version_opens_nothing(store: SQLiteStore, clock: FakeClock, keys: Keyring) -> None:
    sealed = seal(store, keys, PLACE, b"canary")
    with store.write() as tx:
        keys.add_version(tx, "proj_1")
        tx.run("DELETE FROM data_keys WHERE owner = 'proj_1' AND version = 1")
    with pytest.raises(KeyGone):
        Keyring(store, INSTANCE_KEY, clock).open(PLACE, *sealed)


def test_without_any_key_the_project_is_gone(store: SQLiteStore, clock: FakeClock, keys: Keyring) -> None:
    sealed = seal(store, keys, PLACE, b"canary")
    with store.write() as tx:
        keys.forget_project(tx, "proj_1")
    with pytest.raises(ProjectGone):
        Keyring(store, INSTANCE_KEY, clock).open(PLACE, *sealed)
    with pytest.raises(ProjectGone):
        seal(store, keys, PLACE, b"canary")


def test_data_keys_survive_a_change_of_the_instance_key(store: SQLiteStore, keys: Keyring, clock: FakeClock) -> None:
    sealed, new = seal(store, keys, PLACE, b"canary"), new_key()
    with store.write() as tx:
        keys.rewrap(tx, new)
    Keyring(store, new, clock).prove()
    assert Keyring(store, new, clock).open(PLACE, *sealed) == b"canary"
    with pytest.raises(WrongKey):
        Keyring(store, INSTANCE_KEY, clock).prove()


def test_purposes_give_unrelated_keys(keys: Keyring) -> None:
    assert keys.derive("one") == keys.derive("one") != keys.derive("two")


def test_a_keyed_hash_is_that_of_one_text_one_purpose_and_one_key(
    keys: Keyring, store: SQLiteStore, clock: FakeClock
) -> None:
    assert keys.keyed_hash("a", "text") == keys.keyed_hash("a", "text")
    others = {
        keys.keyed_hash("a", "Text"),
        keys.keyed_hash("b", "text"),
        Keyring(store, new_key(), clock).keyed_hash("a", "text"),
    }
    assert len(others | {keys.keyed_hash("a", "text")}) == 4
