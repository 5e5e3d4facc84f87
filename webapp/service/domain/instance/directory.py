"""The public directory of an installation: brought, updated and removed, with a record of who did so; and searched.

It is on this machine only, and not in the database. Apps that were imported from it are apps of their own, which work
without it. One process at a time changes it; who searches meanwhile meets the earlier one, or the new one.
"""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webapp import audit
from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit.clock import iso, iso_or_none
from webapp.service.catalog.importing.words import field
from webapp.service.directory import archive, directory, download
from webapp.service.directory.directory import About
from webapp.service.directory.download import NEWEST, Wanted
from webapp.service.directory.entries import Entry
from webapp.service.domain.base.service import Service

NOUN = "directory"
_LOCK = ".bringing"
_WIDEST = ("api", "apis", "rest", "com", "www", "v1", "v2", "v3")  # parts of a name that say nothing


@dataclass(frozen=True, slots=True)
class Match:
    """A document that a search found. ``app`` is the slug of the app that was imported from it; "" for none."""

    entry: Entry
    app: str

    def to_json(self) -> dict[str, Any]:
        """The document as the API and the command return it."""
        each = self.entry
        return {
            "name": each.name,
            "title": each.title,
            "version": each.version,
            "description": each.description,
            "hosts": list(each.hosts),
            "categories": list(each.categories),
            "operations": each.operations,
            "size": each.size,
            "app": self.app,
        }


class Busy(Conflict):
    """The public directory is being brought or updated just now."""


Bring = Callable[[Wanted], About | None]
"""How the directory is brought: in this process, or by a program."""


def add(service: Service, bring: Bring | None = None) -> About:
    """Bring the version that this Patchbay knows, from the registry.

    Raises :class:`Conflict` if a directory is here, :class:`Busy` if one is being brought, and as
    :func:`webapp.service.directory.download.bring`.
    """
    with alone(service):
        present = directory.about(service.settings.data)
        if present is not None:
            raise Conflict(
                f"The public directory {present.version} is here already. `patchbay directory update` brings a newer "
                "one."
            )
        added = (bring or _here(service))(Wanted(archive.VERSION, archive.INTEGRITY))
        assert added is not None  # as none was here
        return _noted(service, added, "added", "Added")


def update(service: Service, bring: Bring | None = None) -> tuple[About, bool]:
    """The newest directory, and whether it was brought just now. Raises :class:`NotFound` if there is none to update.

    Raises otherwise as :func:`add`; the earlier one stays then.
    """
    with alone(service):
        present = directory.about(service.settings.data)
        if present is None:
            raise NotFound(directory.ABSENT)
        newest = (bring or _here(service))(Wanted(NEWEST, present=present.integrity))
        if newest is None:
            return present, False
        return _noted(service, newest, "updated", "Updated"), True


def add_file(service: Service, path: Path, integrity: str = "") -> About:
    """Bring the directory from an archive on this machine, in place of any that is here.

    ``integrity`` is what it must have; "" for that of the version which this Patchbay knows. Raises :class:`Invalid`
    for another archive, and as :func:`webapp.service.directory.directory.write`.
    """
    if not path.is_file():
        raise Invalid(f"There is no file {path}.")
    wanted = archive.digest_of(integrity or archive.INTEGRITY)
    actual = archive.integrity_of(path)
    if archive.digest_of(actual) != wanted and integrity:
        raise Invalid(f"{path.name} has another integrity, {actual}; it is not taken.")
    if archive.digest_of(actual) != wanted:
        raise Invalid(
            f"{path.name} is not {archive.PACKAGE} {archive.VERSION}, or not whole. For another version, also give the "
            f"integrity that `npm view {archive.PACKAGE}@VERSION dist.integrity` prints, with --integrity."
        )
    published_at = archive.PUBLISHED_AT if wanted == archive.digest_of(archive.INTEGRITY) else None
    with alone(service):
        new = About("", actual, path.name, service.clock(), published_at)
        written = directory.write(service.settings.data, path, new)
        _note(service, "added", f"Added the public directory {written.version} from {path.name}.")
        return written


def remove(service: Service) -> About:
    """Remove the directory; imported apps stay. Raises :class:`NotFound` if there is none."""
    with alone(service):
        present = directory.remove(service.settings.data)
        if present is None:
            raise NotFound(directory.ABSENT)
        _note(service, "removed", f"Removed the public directory {present.version}.")
        return present


def about(service: Service) -> About | None:
    """Which directory is on this machine; None if there is none."""
    return directory.about(service.settings.data)


def to_json(present: About) -> dict[str, Any]:
    """Which directory is here, as the API and the command return it."""
    return {
        "version": present.version,
        "documents": present.documents,
        "operations": present.operations,
        "published_at": iso_or_none(present.published_at),
        "added_at": iso(present.added_at),
        "source": present.source,
        "integrity": present.integrity,
        "left_out": list(present.left_out),
    }


def search(service: Service, text: str, limit: int = 20) -> list[Match]:
    """The documents for ``text``, the nearest first, each with the app that was imported from it."""
    entries = directory.search(service.settings.data, text, limit)
    return [Match(each, service.catalog.imported(each.name)) for each in entries]


def free_slug(service: Service, name: str) -> str:
    """A slug for the app of the document ``name`` that no other app has, such as ``google_calendar``."""
    provider, _, api = name.partition(":")
    labels = provider.split(".")
    owner = labels[-2] if len(labels) > 1 else labels[0]
    owner = owner.removesuffix("apis") or owner
    wanted = field(f"{owner}_{api}" if api and field(owner) not in field(api).split("_") else api or owner)
    parts = [part for part in wanted.split("_") if part not in _WIDEST]
    base = "_".join(parts)[:40] or wanted
    base = base if base[:1].isalpha() else f"a_{base}"
    candidates = (base, f"{base}_api", *(f"{base}_{number}" for number in range(2, 100)))
    return next((slug for slug in candidates if service.catalog.app(slug) is None), base)


@contextmanager
def alone(service: Service) -> Iterator[None]:
    """One change at a time, of all processes on this machine. Raises :class:`Busy` during another."""
    service.settings.data.mkdir(parents=True, exist_ok=True)
    with (service.settings.data / f"{_LOCK}-{directory.FILE}").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy from None
        yield


def _here(service: Service) -> Bring:
    """Brings it in this process, which waits for it."""
    settings = service.settings

    def bring(wanted: Wanted) -> About | None:
        return download.bring(settings.data, settings.piece_registry, wanted, service.clock())

    return bring


def _noted(service: Service, brought: About, verb: str, word: str) -> About:
    if isinstance(brought, About):
        counted = f"with {brought.documents:,} documents"
        _note(service, verb, f"{word} the public directory {brought.version}, {counted}.")
    return brought


def _note(service: Service, verb: str, sentence: str) -> None:
    with service.store.write() as tx:
        audit.write(tx, service.clock(), NOUN, directory.FILE, verb, sentence)
