"""Brings what the operator changes in the catalog to a running service: own apps, own components, a catalog just built.

Files are looked at from a thread of its own, a few times a second, so that no request pays for it. A look costs a few
microseconds for each file of the operator's. A change is built once it has stood still from one look to the next, as an
editor may write in steps.
"""

import logging
import os
import threading
from pathlib import Path

from webapp.errors import Unavailable
from webapp.service.catalog.sources import Places
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import opening

EVERY_S = 0.2
AFTER_TROUBLE_S = 5.0
log = logging.getLogger(__name__)


class CatalogWatch:
    """One thread of a process that reads the catalog. With ``builds``, changes of the sources are built, too."""

    def __init__(self, service: Service, *, builds: bool = True) -> None:
        self._service, self._builds = service, builds
        self._places = Places.of(service.settings.data)
        self._seen: object = None
        self._built: object = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="catalog", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """What is new is seen in a moment anyway."""

    def stop(self, grace_s: float) -> None:
        """End, within ``grace_s`` seconds."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(max(grace_s, 0.1))

    def turn(self) -> None:
        """Look once. Raises :class:`Unavailable`, ``OSError``."""
        if self._builds:
            self._build()
        if self._service.catalog.refresh():
            log.info("The catalog was read anew: %s apps.", len(self._service.catalog))

    def _build(self) -> None:
        before, self._seen = self._seen, _signature(self._places)
        if before == self._seen != self._built:
            opening.update_catalog(self._service)
            self._built = self._seen

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            pause = EVERY_S
            try:
                self.turn()
            except Unavailable as error:
                log.info("catalog: %s", error.message)
                pause = AFTER_TROUBLE_S
            except Exception:
                log.exception("A change of the catalog could not be taken in.")
                pause = AFTER_TROUBLE_S


def _signature(places: Places) -> frozenset[tuple[str, int, int]]:
    """What tells cheaply whether a file of the operator's may have changed: names, times and sizes."""
    folders = [*places.own, *([places.components] if places.components else [])]
    files = (file for folder in folders for kind in ("*.toml", "*.py") for file in folder.rglob(kind))
    return frozenset((str(file), facts.st_mtime_ns, facts.st_size) for file in files if (facts := _facts(file)))


def _facts(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except OSError:  # gone again
        return None
