"""The catalog's file: built anew only where something changed, and what is left out is logged."""

import logging
from pathlib import Path

import pytest

from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service

BROKEN = 'slug = "broken"\n'


def changed_at(service: Service) -> int:
    return (service.settings.data / "catalog.db").stat().st_mtime_ns


def test_it_is_built_anew_where_the_operators_apps_changed(
    service: Service, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    catalog_file.update(service)
    built = changed_at(service)
    catalog_file.update(service)
    assert changed_at(service) == built, "nothing changed"
    folder = service.settings.data / "apps" / "broken"
    folder.mkdir(parents=True)
    (folder / "app.toml").write_text(BROKEN)
    with caplog.at_level(logging.WARNING, logger=catalog_file.__name__):
        catalog_file.update(service)
    assert changed_at(service) != built
    assert any("left out of the catalog" in line and "broken" in line for line in caplog.messages)
