"""One runner for all actions, and a harness for the app of each test file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, open_harness
from webapp.service.catalog.index import Catalog
from webapp.service.components.executor import Executor


@pytest.fixture(scope="session")
def action_runner() -> Iterator[Executor]:
    with Executor.start() as started:
        yield started


@pytest.fixture
def desk_of(shipped: Catalog, action_runner: Executor) -> Iterator[Callable[..., AppHarness]]:
    """Open a harness for an app and the values of an account."""
    with ExitStack() as stack:

        def opened(slug: str, **values: str) -> AppHarness:
            app = shipped.app(slug)
            assert app is not None
            return stack.enter_context(open_harness(app, action_runner, values))

        yield opened
