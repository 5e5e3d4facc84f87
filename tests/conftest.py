"""What every test may ask for: an empty data folder, settings and a clock that belong to it, a migrated store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.kit.clock import FakeClock
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An empty data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def settings(data: Path) -> Settings:
    """The default settings, over :func:`data`, deaf to the environment of the person who runs the tests."""
    return Settings.from_env({}, data=data)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that moves only when it is told to."""
    return FakeClock()


@pytest.fixture
def store(data: Path) -> Iterator[SQLiteStore]:
    """A migrated store in :func:`data`."""
    opened = SQLiteStore(data / "patchbay.db")
    opened.migrate()
    yield opened
    opened.close()
