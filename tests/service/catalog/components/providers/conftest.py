"""One runner for all actions, and a desk for the app of each test file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.service.catalog.components.providers.desk import Desk, desk
from webapp.service.catalog.index import Catalog
from webapp.service.components.runner import Runner


@pytest.fixture(scope="session")
def action_runner() -> Iterator[Runner]:
    with Runner.start() as started:
        yield started


@pytest.fixture
def desk_of(shipped: Catalog, action_runner: Runner) -> Iterator[Callable[..., Desk]]:
    """Open a desk for an app and the values of an account."""
    with ExitStack() as stack:

        def opened(slug: str, **values: str) -> Desk:
            app = shipped.app(slug)
            assert app is not None
            return stack.enter_context(desk(app, action_runner, values))

        yield opened
