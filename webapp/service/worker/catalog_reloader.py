"""Reloads the catalog of a running service after the operator changes own apps or components, or rebuilds it.

A thread checks the operator's files a few times a second, so that requests need not. A check takes a few microseconds
per file; with thousands of files, checks are made less often, so that they take at most 0.5 % of one processor. A
change is built once two checks in a row see the same files, since an editor may save in several steps.
"""

import hashlib
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

from webapp.errors import Unavailable
from webapp.service.catalog.sources import Places
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service

EVERY_S = 0.2
AFTER_TROUBLE_S = 5.0
SHARE = 200  # one part of the time is spent on checks
log = logging.getLogger(__name__)


class CatalogReloader:
    """The thread that reloads the catalog in one process. With ``builds``, it also builds changed sources."""

    def __init__(self, service: Service, *, builds: bool = True) -> None:
        self._service, self._builds = service, builds
        self._places = Places.of(service.settings.data)
        self._seen: bytes | None = None
        self._built: bytes | None = None
        self.look_s = 0.0  # processor time of the last check of the sources
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="catalog", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Do nothing: the next check comes within a moment."""

    def stop(self, grace_s: float) -> None:
        """Stop the thread, waiting at most ``grace_s`` seconds for it."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(max(grace_s, 0.1))

    def turn(self) -> None:
        """Check once, and reload what changed. Raises :class:`Unavailable`, ``OSError``."""
        if self._builds:
            self._build()
        if self._service.catalog.refresh():
            log.info("The catalog was reloaded: %s apps.", len(self._service.catalog))

    def _build(self) -> None:
        began = time.thread_time()
        before, self._seen = self._seen, _signature(self._places)
        self.look_s = time.thread_time() - began
        if before == self._seen != self._built:
            catalog_file.update(self._service)
            self._built = self._seen

    def _run(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            try:
                self.turn()
                pause = max(EVERY_S, SHARE * self.look_s)
            except Unavailable as error:
                log.info("catalog: %s", error.message)
                pause = AFTER_TROUBLE_S
            except Exception:
                log.exception("A change of the catalog could not be taken in.")
                pause = AFTER_TROUBLE_S


def _signature(places: Places) -> bytes:
    """A digest of the names, times and sizes of the operator's files, which changes when one of them may have."""
    folders = [*places.own, *([places.components] if places.components else [])]
    digest = hashlib.blake2b(digest_size=16)
    for path, changed_at, size in _facts(map(str, folders)):
        digest.update(f"{path}\0{changed_at}\0{size}\n".encode(errors="surrogateescape"))
    return digest.digest()


def _facts(folders: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    for folder in folders:
        try:
            entries = list(os.scandir(folder))
        except OSError:  # deleted meanwhile, or never created
            continue
        yield from _facts(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        for entry in entries:
            if entry.name.endswith((".toml", ".py")):
                with suppress(OSError):
                    facts = entry.stat()
                    yield entry.path, facts.st_mtime_ns, facts.st_size
