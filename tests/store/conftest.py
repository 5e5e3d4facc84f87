"""The backends that the contract runs on. A second database joins by one more entry in ``BACKENDS``."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from webapp.store.contract import Store
from webapp.store.sqlite import SQLiteStore

OpenStore = Callable[[], Store]


def _sqlite(folder: Path) -> Store:
    return SQLiteStore(folder / "patchbay.db", busy_timeout_s=2)


BACKENDS: dict[str, Callable[[Path], Store]] = {"sqlite": _sqlite}


@pytest.fixture(params=list(BACKENDS))
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens the same empty database each time it is called, as another process would."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(BACKENDS[request.param](tmp_path)))


@pytest.fixture
def any_store(open_store: OpenStore) -> Store:
    """A migrated store of each backend."""
    store = open_store()
    store.migrate()
    return store
