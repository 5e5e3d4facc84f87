"""Brings the archive of the public directory: from the npm registry, by npm itself, or from a file.

npm reads the operator's own ``.npmrc`` as it does for integrations, so that a company's registry works here as well.
The archive stays in npm's cache, where npm has written it as it came, and goes with that.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from webapp.errors import Invalid, UpstreamFailed
from webapp.kit.clock import SECOND
from webapp.kit.scratch import Scratch
from webapp.service.directory import archive
from webapp.service.pieces import npm
from webapp.service.pieces.packages import is_version

LOOK_S, BRING_S = 30.0, 600.0
_SCRATCH = ".bringing-directory-"


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
        with Scratch(_SCRATCH, self.folder) as folder:
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
    def brought(self, release: Release) -> Iterator[Path]:
        """The archive of ``release``, in the block; it is removed after that.

        Raises :class:`UpstreamFailed` with a sentence, also for an archive that has another integrity.
        """
        with Scratch(_SCRATCH, self.folder) as folder:
            self._npm(["cache", "add", f"{archive.PACKAGE}@{release.version}"], folder, BRING_S, cache=folder / "cache")
            digest = archive.digest_of(release.integrity).hex()
            path = folder / "cache" / "_cacache" / "content-v2" / "sha512" / digest[:2] / digest[2:4] / digest[4:]
            if not path.is_file() or archive.integrity_of(path) != release.integrity:
                raise UpstreamFailed(
                    f"What the registry gave as {archive.PACKAGE} {release.version} has another integrity than it "
                    "should have; it is not taken."
                )
            yield path

    def _npm(self, arguments: list[str], folder: Path, deadline_s: float, cache: Path | None = None) -> npm.Answer:
        if npm.command() is None:
            raise UpstreamFailed(
                "The public directory comes from the npm registry, and npm is not on this machine. Install Node 20 or "
                "newer, or bring a file: `patchbay directory add --file`."
            )
        answer = npm.call(arguments, folder, registry=self.url, deadline_s=deadline_s, cache=cache)
        if not answer.ok:
            raise UpstreamFailed(
                f"The registry did not give the public directory: {answer.reason}. Check the connection of this "
                "machine, name another registry in PATCHBAY_PIECE_REGISTRY, or bring a file: `patchbay directory add "
                "--file`."
            )
        return answer


def pinned() -> Release:
    """The version that this Patchbay knows by its integrity."""
    return Release(archive.VERSION, archive.INTEGRITY)


def _moment(times: Any, version: str) -> int | None:
    try:
        return round(datetime.fromisoformat(str(times[version])).timestamp() * SECOND)
    except (KeyError, TypeError, ValueError):
        return None
