"""Opening a data folder: the same data each time, a catalog that is built once, and no other key."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from webapp.kit.clock import FakeClock
from webapp.service.domain.base.key_file import WrongKey
from webapp.service.domain.base.service import wake_nobody
from webapp.service.domain.instance import opening
from webapp.service.domain.projects import projects
from webapp.settings import Settings

KEY = "kT7vQ2mX9cL4pR8wZ1sN6dF3hJ5gB0yAeU"  # what the folder was made with


@pytest.fixture
def settings(settings: Settings, catalog_folder: Path) -> Settings:
    """Over a folder whose catalog is built already, since that takes most of the time."""
    shutil.copytree(catalog_folder, settings.data, dirs_exist_ok=True)
    return replace(settings, secret_key=KEY)


def test_what_was_kept_is_there_when_it_is_opened_again(settings: Settings, clock: FakeClock) -> None:
    first = opening.open_service(settings, clock)
    project = projects.create(first, name="Acme", support_email="help@acme.example")
    built = (settings.data / "catalog.db").stat().st_mtime_ns
    opening.close_service(first)
    second = opening.open_service(settings, clock)
    try:
        assert projects.get(second.store, project.id).name == "Acme"
        assert (settings.data / "catalog.db").stat().st_mtime_ns == built
        assert second.wake is wake_nobody
    finally:
        opening.close_service(second)


def test_another_key_is_refused(settings: Settings, clock: FakeClock) -> None:
    service = opening.open_service(settings, clock)
    opening.close_service(service)
    with pytest.raises(WrongKey):
        opening.open_service(replace(settings, secret_key="x" * 40), clock)
    opening.close_service(opening.open_service(settings, clock))
