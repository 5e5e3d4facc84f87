"""The settings name the store; nobody else has the embedded one open who asks for it alone."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.once import postgres as databases
from webapp.errors import Conflict, Invalid
from webapp.settings import Settings
from webapp.store.postgres.store import PostgresStore
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import exists, open_alone, open_store, refuse_server


def test_the_embedded_store_is_the_default(settings: Settings) -> None:
    assert not exists(settings)
    with closing(open_store(settings)) as store:
        assert isinstance(store, SQLiteStore) and exists(settings)
        with pytest.raises(Conflict, match="stop it first"), open_alone(settings):
            pytest.fail("it is open")
    with open_alone(settings) as store:
        assert isinstance(store, SQLiteStore)
    refuse_server(settings, "Not here.")


def test_an_address_of_postgresql_names_the_other(data: Path) -> None:
    name = databases.new()
    settings = Settings.from_env({"PATCHBAY_DATABASE_URL": databases.url(name)}, data=data)
    assert exists(settings) and "right" not in repr(settings)
    with closing(open_store(settings)) as store, open_alone(settings) as alone:
        assert isinstance(store, PostgresStore) and isinstance(alone, PostgresStore)
    with pytest.raises(Invalid, match=r"^Not here\.$"):
        refuse_server(settings, "Not here.")
    assert not settings.database.exists()
    databases.drop(name)
