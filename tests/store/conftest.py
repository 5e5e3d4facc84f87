"""The backends that the contract runs on. Another database joins by one more entry in ``BACKENDS``."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.once import postgres as databases
from webapp.store.contract import Store
from webapp.store.postgres.store import PostgresStore
from webapp.store.sqlite import SQLiteStore

OpenStore = Callable[[], Store]


@contextmanager
def _sqlite(folder: Path, migrated: Path | None) -> Iterator[OpenStore]:
    path = folder / "patchbay.db"
    if migrated is not None:
        shutil.copy(migrated, path)
    yield lambda: SQLiteStore(path, busy_timeout_s=2)


@contextmanager
def _postgres(_: Path, migrated: Path | None) -> Iterator[OpenStore]:
    name = databases.new("template0" if migrated is None else None)
    patience_s = 20 if migrated is None else 2  # who migrates second waits for the whole schema
    yield lambda: PostgresStore(databases.url(name), connections=4, patience_s=patience_s)
    databases.drop(name)


BACKENDS: dict[str, Callable[[Path, Path | None], AbstractContextManager[OpenStore]]] = {
    "sqlite": _sqlite,
    "postgres": _postgres,
}


@pytest.fixture(params=list(BACKENDS))
def open_empty_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens the same empty database each time it is called, as another process would."""
    with BACKENDS[request.param](tmp_path, None) as connect, ExitStack() as opened:
        yield lambda: opened.enter_context(closing(connect()))


@pytest.fixture(params=list(BACKENDS))
def open_store(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path) -> Iterator[OpenStore]:
    """Opens the same migrated database each time it is called, as another process would."""
    with BACKENDS[request.param](tmp_path, migrated) as connect, ExitStack() as opened:
        yield lambda: opened.enter_context(closing(connect()))


@pytest.fixture
def any_store(open_store: OpenStore) -> Store:
    """A migrated store of each backend."""
    return open_store()
