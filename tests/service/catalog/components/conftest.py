"""One runner for all the actions that are tested here."""

from collections.abc import Iterator

import pytest

from webapp.service.components.executor import Executor


@pytest.fixture(scope="session")
def runner() -> Iterator[Executor]:
    with Executor.start() as started:
        yield started
