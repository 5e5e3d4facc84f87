"""The embedded dashboard, one for each module of tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dashboard.embedded import Embedded
from webapp.kit.clock import FakeClock
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, built_catalog: Path, migrated: Path) -> Iterator[Embedded]:
    """The dashboard over a service of its own, whose project is Acme."""
    data, clock = tmp_path_factory.mktemp("studio"), FakeClock()
    shutil.copy(migrated, data)
    shutil.copy(built_catalog, data)
    settings = Settings.from_env({}, data=data)
    service = open_service(settings, clock)
    yield Embedded(service, settings, clock)
    close_service(service)
