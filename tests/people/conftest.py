"""A migrated store and a clock that tests can move."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.once import stores
from webapp.kit.clock import FakeClock
from webapp.store.sqlite import SQLiteStore


@pytest.fixture
def people_clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def people_store(tmp_path: Path, migrated: Path) -> Iterator[SQLiteStore]:
    store = stores.opened(Path(shutil.copy(migrated, tmp_path / "people.db")))
    yield store
    store.close()
