"""The embedded dashboard, shared by tests of Build: each makes what it changes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboard.embedded import Embedded
from tests.once.catalog import linked
from webapp.kit.clock import FakeClock
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings


@pytest.fixture(scope="session")
def office_clock() -> FakeClock:
    """The clock of :func:`office`."""
    return FakeClock()


@pytest.fixture(scope="session")
def office(
    tmp_path_factory: pytest.TempPathFactory, built_catalog: Path, migrated: Path, office_clock: FakeClock
) -> Iterator[Embedded]:
    """The dashboard over a service of its own."""
    data = tmp_path_factory.mktemp("office")
    shutil.copy(migrated, data)
    linked(built_catalog, data)
    settings = Settings.from_env({}, data=data)
    service = open_service(settings, office_clock)
    embedded = Embedded(service, settings, office_clock)
    office_clock.advance(1)  # the first project is the oldest: those that tests make must be younger
    yield embedded
    close_service(service)
