"""One runner for all the actions that are tested here."""

from collections.abc import Iterator

import pytest

from webapp.service.components.runner import Runner


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    with Runner.start() as started:
        yield started
