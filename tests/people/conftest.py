"""A migrated store and a clock that tests can move."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.kit.clock import FakeClock
from webapp.store.sqlite import SQLiteStore


@pytest.fixture
def people_clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def people_store(tmp_path: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(tmp_path / "people.db")
    store.migrate()
    yield store
    store.close()
