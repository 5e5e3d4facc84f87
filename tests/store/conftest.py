"""The backends that the contract runs on. Another database joins by one more entry in ``BACKENDS``."""

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
def _sqlite(folder: Path) -> Iterator[OpenStore]:
    yield lambda: SQLiteStore(folder / "patchbay.db", busy_timeout_s=2)


@contextmanager
def _postgres(_: Path) -> Iterator[OpenStore]:
    name = databases.new("template0")
    yield lambda: PostgresStore(databases.url(name), connections=4, patience_s=2)
    databases.drop(name)


BACKENDS: dict[str, Callable[[Path], AbstractContextManager[OpenStore]]] = {"sqlite": _sqlite, "postgres": _postgres}


@pytest.fixture(params=list(BACKENDS))
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens the same empty database each time it is called, as another process would."""
    with BACKENDS[request.param](tmp_path) as connect, ExitStack() as opened:
        yield lambda: opened.enter_context(closing(connect()))


@pytest.fixture
def any_store(open_store: OpenStore) -> Store:
    """A migrated store of each backend."""
    store = open_store()
    store.migrate()
    return store
