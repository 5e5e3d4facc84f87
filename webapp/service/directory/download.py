"""Brings the archive of the public directory: from the npm registry, by npm itself, or from a file.

npm reads the operator's own ``.npmrc`` as it does for integrations, so that a company's registry works here as well.
The archive stays in npm's cache, where npm has written it as it came, and goes with that.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from webapp.errors import Invalid, Unwritable, UpstreamFailed
from webapp.kit.clock import SECOND
from webapp.kit.scratch import Scratch
from webapp.service.directory import archive, directory
from webapp.service.directory.directory import About
from webapp.service.directory.progress import Progress, unseen
from webapp.service.pieces import npm
from webapp.service.pieces.packages import is_version

LOOK_S, BRING_S = 30.0, 600.0
NAME = "the npm registry"
NEWEST = "latest"
ROOM = 150_000_000
"""The bytes that must be free: for the archive and the new directory, beside the earlier one."""
SCRATCH = ".bringing-directory-"
_DISK_FULL = "ENOSPC"  # as npm prints it


@dataclass(frozen=True, slots=True)
class Release:
    """A version of the directory in the registry: its integrity, and when it was published (epoch milliseconds)."""

    version: str
    integrity: str
    published_at: int | None = None


@dataclass(frozen=True, slots=True)
class Registry:
    """The registry at ``url``, or that of the machine's ``.npmrc``, or npm's own; npm runs below ``folder``."""

    folder: Path
    url: str | None = None

    def release(self, version: str) -> Release:
        """The release of the directory with that version, or ``latest``.

        Raises :class:`UpstreamFailed` with a sentence if the registry does not answer or has no such version.
        """
        with Scratch(SCRATCH, self.folder) as folder:
            spec = f"{archive.PACKAGE}@{version}"
            answer = self._npm(["view", spec, "version", "dist.integrity", "time", "--json"], folder, LOOK_S)
        try:
            facts = json.loads(answer.out)
        except (ValueError, RecursionError):
            facts = None
        number = facts.get("version") if isinstance(facts, dict) else None
        if not isinstance(facts, dict) or not isinstance(number, str) or not is_version(number):
            raise UpstreamFailed(f"The registry has no {spec}.")
        integrity = str(facts.get("dist.integrity") or "")
        try:
            archive.digest_of(integrity)
        except Invalid as error:
            raise UpstreamFailed(f"The registry names no SHA-512 of {archive.PACKAGE} {number}.") from error
        return Release(number, integrity, _moment(facts.get("time"), number))

    @contextmanager
    def brought(self, release: Release, progress: Progress = unseen) -> Iterator[Path]:
        """The archive of ``release``, in the block; it is removed after that. ``progress`` gets the bytes that came.

        Raises :class:`UpstreamFailed` with a sentence, also for an archive that has another integrity, and
        :class:`Unwritable` for a disk that takes no more.
        """
        with Scratch(SCRATCH, self.folder) as folder:
            cache = folder / "cache"

            def look() -> str:
                progress("downloading", _bytes_below(cache))
                return ""

            self._npm(["cache", "add", f"{archive.PACKAGE}@{release.version}"], folder, BRING_S, cache, look)
            digest = archive.digest_of(release.integrity).hex()
            path = cache / "_cacache" / "content-v2" / "sha512" / digest[:2] / digest[2:4] / digest[4:]
            if not path.is_file() or archive.integrity_of(path) != release.integrity:
                raise UpstreamFailed(
                    f"What the registry gave as {archive.PACKAGE} {release.version} has another integrity than it "
                    "should have; it is not taken."
                )
            yield path

    def _npm(
        self,
        arguments: list[str],
        folder: Path,
        deadline_s: float,
        cache: Path | None = None,
        look: Callable[[], str] = lambda: "",
    ) -> npm.Answer:
        if npm.command() is None:
            raise UpstreamFailed(
                "The public directory comes from the npm registry, and npm is not on this machine. Install Node 20 or "
                "newer, or bring a file: `patchbay directory add --file`."
            )
        answer = npm.call(arguments, folder, registry=self.url, deadline_s=deadline_s, cache=cache, stopped=look)
        if _DISK_FULL in answer.error:
            raise Unwritable(f"The public directory could not be written to {self.folder}: no space left on device.")
        if not answer.ok:
            raise UpstreamFailed(
                f"The registry did not give the public directory: {answer.reason}. Check the connection of this "
                "machine, name another registry in PATCHBAY_PIECE_REGISTRY, or bring a file: `patchbay directory add "
                "--file`."
            )
        return answer


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is brought: a ``version``, or :data:`NEWEST`, with its ``integrity`` if that is known.

    ``present`` is the integrity of the directory that is here; "" for none.
    """

    version: str
    integrity: str = ""
    present: str = ""


def bring(data: Path, url: str | None, wanted: Wanted, now: int, progress: Progress = unseen) -> About | None:
    """Bring the directory from the registry at ``url`` to ``data``; None if that which is here is the one.

    Raises :class:`UpstreamFailed` and :class:`Unwritable` with a sentence, and as
    :func:`webapp.service.directory.directory.write`. What was here stays then.
    """
    _check_room(data)
    registry = Registry(data, url)
    progress("looking", 0)
    release = registry.release(wanted.version)
    if wanted.integrity:
        release = replace(release, integrity=wanted.integrity)
    if release.integrity == wanted.present:
        return None
    progress("downloading", 0)
    with registry.brought(release, progress) as path:
        progress("indexing", 0)
        new = About(release.version, release.integrity, NAME, now, release.published_at)
        return directory.write(data, path, new, progress)


def pinned() -> Release:
    """The version that this Patchbay knows by its integrity."""
    return Release(archive.VERSION, archive.INTEGRITY)


def _moment(times: Any, version: str) -> int | None:
    try:
        return round(datetime.fromisoformat(str(times[version])).timestamp() * SECOND)
    except (KeyError, TypeError, ValueError):
        return None


def _check_room(data: Path) -> None:
    free = shutil.disk_usage(data).free
    if free < ROOM:
        raise Unwritable(
            f"The public directory needs {ROOM // 1_000_000} MB on the disk of {data} while it is brought, and "
            f"{free // 1_000_000} MB are free."
        )


def _bytes_below(folder: Path) -> int:
    """The sizes of all files below ``folder``, which npm writes meanwhile."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(OSError):  # moved by now
            total += file.stat().st_size if file.is_file() else 0
    return total
