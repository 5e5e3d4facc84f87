"""The file of the catalog, ``DATA/catalog.db``: opened, and rebuilt after the operator's apps or components changed."""

import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webapp.service.catalog.build import BuildReport, ensure
from webapp.service.catalog.importing import folders
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places
from webapp.service.components.executor import Executor
from webapp.service.components.runner import Runner
from webapp.service.domain.base.service import Service
from webapp.settings import Settings

log = logging.getLogger(__name__)


def update(service: Service) -> None:
    """Rebuild the catalog if the operator's apps or components changed. Readers reload the new file.

    Raises :class:`webapp.errors.Unavailable` if the runner cannot say what components declare.
    """
    with one_at_a_time(service.settings.data / ".opening"):
        report = build(service.settings, service.executor)
    if report.built:
        warn(report)


def build(settings: Settings, runner: Runner | Executor | None) -> BuildReport:
    """Build the catalog, unless it is up to date, from the built-in apps and the operator's in the data folder.

    No runner is started for it, since not every process that opens a folder calls components.
    """
    folders.recover(settings.data)
    return ensure(settings.data / "catalog.db", Places.of(settings.data), runner.call if runner else None)


def warn(report: BuildReport) -> None:
    """Log what was left out of the catalog, and why."""
    for problem in report.problems:
        log.warning("This is left out of the catalog: %s", problem)


def open_catalog(settings: Settings) -> Catalog:
    """Open the catalog for reading."""
    variables = {"sandbox": settings.sandbox_url} if settings.sandbox else {}
    return Catalog.open(settings.data / "catalog.db", public_url=settings.public_url, variables=variables)


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold the lock file ``path`` in the block, so that processes that start together build one after another."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
