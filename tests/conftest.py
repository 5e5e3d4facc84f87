"""What every test may ask for: an empty data folder, settings and a clock that belong to it, a migrated store."""

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

from tests.once import catalog, passwords, runners, schema, stores, web
from webapp.kit import translation
from webapp.kit.clock import FakeClock
from webapp.kit.slots import Slot, this_thread
from webapp.service.catalog.sources import Places
from webapp.service.domain.base import catalog_file
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore

HERE = Path(__file__).parent

catalog.keep()
passwords.keep()
web.keep()
schema.keep()
stores.keep()
runners.keep()
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Of the whole suite, each of several processes first reads a share of the modules.

    Where no bytecode is kept yet, the asserts of a module are then rewritten by one process rather than by all.
    """
    worker, count = os.environ.get("PYTEST_XDIST_WORKER", ""), os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    if not worker or session.config.args != session.config.getini("testpaths"):
        return
    left_out = tuple(Path(path).absolute() for path in session.config.getoption("ignore") or ())
    files = (path for path in sorted(HERE.rglob("test_*.py")) if not any(map(path.is_relative_to, left_out)))
    for path in islice(files, int(worker.removeprefix("gw")), None, int(count)):
        with suppress(Exception, pytest.skip.Exception):  # reported when it is collected
            import_module(".".join(path.relative_to(HERE.parent).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Nothing that was imported and collected is garbage, and no later search for garbage looks through it again.

    What tests leave is searched seldom: most of it is freed without, and the searches took a twelfth of the time.
    Nor is bytecode kept of what a test writes and loads, and may write otherwise within the same second.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
    sys.dont_write_bytecode = True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On another database, only what looks at one."""
    if stores.ON_POSTGRES:
        left_out = [item for item in items if stores.is_embedded(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not stores.is_embedded(item)]


@pytest.fixture(autouse=stores.ON_POSTGRES)
def forgotten_databases(tmp_path: Path) -> Iterator[None]:
    """What a test made in another database goes with it."""
    yield
    stores.forget(tmp_path)


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
def spoken() -> Iterator[None]:
    """English again after a test in which another language is spoken."""
    yield
    translation.speak(translation.DEFAULT)


@pytest.fixture(scope="session")
def built_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The catalog of the built-in apps: building it is most of what a command over a new folder does.

    It is built as over a data folder, so that it stands there for what a command would build.
    """
    folder = tmp_path_factory.mktemp("catalog")
    catalog_file.ensure(folder / "catalog.db", Places.of(folder), None)  # type: ignore[attr-defined]  # as in once
    return folder / "catalog.db"


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database with the whole schema, to be copied: making it anew is most of what a test would take."""
    file = tmp_path_factory.mktemp("migrated") / "patchbay.db"
    store = stores.opened(file)
    store.migrate()
    store.close()
    return file


@pytest.fixture
def store(data: Path, migrated: Path) -> Iterator[SQLiteStore]:
    """A migrated store in :func:`data`."""
    opened = stores.opened(Path(shutil.copy(migrated, data)))
    yield opened
    opened.close()


class CountedSlot(Slot):
    """A slot that counts how often it was released, and reacquired without a notification."""

    released = reacquired = 0
    has_queue = False

    @property
    def has_waiting_requests(self) -> bool:
        return self.has_queue

    def _on_release(self) -> None:
        self.released += 1

    def _on_reacquire(self) -> None:
        self.reacquired += 1


@pytest.fixture
def slot() -> Iterator[CountedSlot]:
    """The slot of the test's thread, as the threads that answer requests have one."""
    this_thread.slot = this_thread.waiting = slot = CountedSlot()
    yield slot
    del this_thread.slot, this_thread.waiting
