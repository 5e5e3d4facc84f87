"""Downloads a package to this machine's disk, with its lock: from the registry, a tarball, or a folder.

It is unpacked and checked in a temporary folder, and then renamed into place. The next download removes what a killed
process left.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webapp.errors import Invalid, PatchbayError
from webapp.kit.scratch import Scratch
from webapp.service.pieces import npm, npm_tarballs, package_locks, packages
from webapp.service.pieces.package_locks import LOCK, MANIFEST
from webapp.service.pieces.packages import MODULES, Places, Wanted, is_version
from webapp.service.pieces.registry import named

DEADLINE_S = 300.0
SCRATCH = ".bringing-"
_LICENCES = ("license", "licence", "copying", "notice")
_LICENCE_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """A downloaded package; ``digest`` is that of its files."""

    package: str
    version: str
    lock: str = field(repr=False)
    digest: str
    size: int
    licence: str
    licence_text: str = field(repr=False)
    author: str
    description: str


class Stopped(PatchbayError):
    """The installation was stopped on request."""


@dataclass(frozen=True, slots=True)
class Installer:
    """Downloads packages to ``places``, each of at most ``most_mb`` MiB; ``stopped`` is called repeatedly meanwhile.

    The versions ``in_use`` keep their digests.
    """

    places: Places
    registry: str | None
    most_mb: int
    stopped: Callable[[], bool] = lambda: False
    in_use: Mapping[str, str] = field(default_factory=dict)

    def from_registry(self, wanted: Wanted, folder: str) -> InstalledPackage:
        """Install ``wanted`` from the registry. Raises :class:`Invalid`, :class:`Stopped`."""
        return self._installed(wanted.package, wanted.version or "latest", folder)

    def from_folder(self, source: Path, folder: str, version: str) -> InstalledPackage:
        """Install the package in the folder ``source`` as ``version``. Raises :class:`Invalid`, :class:`Stopped`."""
        package = str(read_manifest(source).get("name", ""))
        return self._installed(package, f"file:{source}", folder, local=package, version=version)

    def from_tarball(self, source: Path, folder: str) -> InstalledPackage:
        """Install a tarball, with its dependencies by npm. Raises :class:`Invalid`, :class:`Stopped`."""
        content = npm_tarballs.read(source, self.most_mb)
        facts = npm_tarballs.manifest(content, source.name)
        if facts.get("dependencies"):
            return self._installed(str(facts["name"]), f"file:{source}", folder)
        digest = next(iter(npm_tarballs.by_digest([content])))
        lock = package_locks.whole(
            str(facts["name"]), str(facts.get("version")), named(facts.get("license"), "type"), digest
        )
        return self.from_lock(str(facts["name"]), lock, folder, {digest: content})

    def from_offline(self, source: Path, package: str, folder: str) -> InstalledPackage:
        """Install the tarballs in a folder, with the lock that names them. Raises :class:`Invalid`."""
        lock, contents = offline(source, package, self.most_mb)
        return self.from_lock(package, lock, folder, contents)

    def again(self, known: InstalledPackage, folder: str, contents: Mapping[bytes, bytes] | None = None) -> None:
        """Install a version that was installed before, here or on another machine, and refuse other files.

        Raises :class:`Invalid`, :class:`Stopped`.
        """
        self.from_lock(known.package, known.lock, folder, contents, known)

    def from_lock(
        self,
        package: str,
        lock: str,
        folder: str,
        contents: Mapping[bytes, bytes] | None = None,
        known: InstalledPackage | None = None,
    ) -> InstalledPackage:
        """Install the packages that ``lock`` names, and no others, from the tarballs ``contents`` or else from the
        registry.

        Raises :class:`Invalid`, :class:`Stopped`.
        """
        with self._draft() as draft:
            (draft / MANIFEST).write_text(package_locks.root_manifest(lock))
            (draft / LOCK).write_text(lock)
            if contents is None:
                self._npm(["ci", "--omit=dev"], draft)
            else:
                npm_tarballs.unpack(package_locks.read(lock), contents, draft, self.most_mb)
            if known and packages.digest(draft / MODULES) != known.digest:
                raise Invalid(f"{package} {known.version} is not what it was when it was added; it is not taken.")
            return self._settled(draft, package, folder, known.version if known else "", package if known else "")

    def _installed(self, package: str, spec: str, folder: str, local: str = "", version: str = "") -> InstalledPackage:
        with self._draft() as draft:
            (draft / MANIFEST).write_text(package_locks.manifest(package, spec))
            self._npm(["install", "--omit=dev", "--install-links", "--save-exact"], draft)
            return self._settled(draft, package, folder, version, local)

    def _npm(self, arguments: list[str], draft: Path) -> None:
        def stopped() -> str:
            if self.stopped():
                return "it was stopped"
            large = packages.size(draft) > 3 * self.most_mb * packages.MB  # packed, unpacked and cached
            return f"it has more than {self.most_mb} MiB (PATCHBAY_PIECE_MB)" if large else ""

        answer = npm.call(arguments, draft, registry=self.registry, deadline_s=DEADLINE_S, stopped=stopped)
        if self.stopped():
            raise Stopped
        if not answer.ok:
            raise Invalid(f"npm could not bring it: {answer.reason}.")

    def _draft(self) -> Scratch:
        self.places.root.mkdir(parents=True, exist_ok=True)
        return Scratch(SCRATCH, self.places.root)

    def _settled(self, draft: Path, package: str, folder: str, version: str, local: str = "") -> InstalledPackage:
        """Check the files in ``draft``, and move it into place."""
        lock = (draft / LOCK).read_text("utf-8")
        entry = package_locks.find(package_locks.read(lock, local=local), package)
        number = version or entry.version
        if not is_version(number):
            raise Invalid(f"{package} {number} is no released version, which is all that can be added.")
        size = packages.check(draft / MODULES, self.most_mb)
        own = draft / MODULES / package
        facts = read_manifest(own)
        brought = InstalledPackage(
            package,
            number,
            lock,
            packages.digest(draft / MODULES),
            size,
            (named(facts.get("license"), "type") or entry.licence)[:200],
            _licence_text(own),
            named(facts.get("author"), "name")[:200],
            str(facts.get("description") or "")[:500],
        )
        if self.in_use.get(number, brought.digest) != brought.digest:
            raise Invalid(
                f"{package} {number} is in use here with other files, which stay. Give it another version, or remove "
                "the integration first."
            )
        if self.stopped():
            raise Stopped
        packages.seal(draft / MODULES)
        place = self.places.package(folder, number)
        packages.remove(place)
        place.mkdir(parents=True)
        for each in (MANIFEST, LOCK, MODULES):
            (draft / each).rename(place / each)
        return brought


def offline(source: Path, package: str, most_mb: int) -> tuple[str, dict[bytes, bytes]]:
    """The lock in a folder of tarballs, or one for a package without dependencies, and the tarballs by their
    SHA-512.

    Raises :class:`Invalid`.
    """
    if not source.is_dir():
        raise Invalid(f"There is no folder {source}.")
    by_digest = tarballs_in(source, most_mb)
    if (source / LOCK).is_file():
        return (source / LOCK).read_text("utf-8"), by_digest
    for content in by_digest.values():
        facts = npm_tarballs.manifest(content, f"A tarball in {source}")
        if facts["name"] == package:
            if facts.get("dependencies"):
                raise Invalid(f"{package} needs other packages: put the {LOCK} that npm wrote beside the tarballs.")
            digest = next(iter(npm_tarballs.by_digest([content])))
            licence = named(facts.get("license"), "type")
            return package_locks.whole(package, str(facts.get("version")), licence, digest), by_digest
    raise Invalid(f"{source} holds neither a {LOCK} nor a tarball of {package}.")


def tarballs_in(source: Path, most_mb: int) -> dict[bytes, bytes]:
    """The tarballs in a folder, by their SHA-512. Raises :class:`Invalid`."""
    files = sorted(path for path in source.iterdir() if path.name.endswith(npm_tarballs.ENDINGS))
    return npm_tarballs.by_digest(npm_tarballs.read(path, most_mb) for path in files)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The package.json in ``folder``. Raises :class:`Invalid`."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            facts = json.loads(file.read(npm_tarballs.MOST_MANIFEST))
    except (OSError, ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or not facts.get("name"):
        raise Invalid(f"{folder} holds no {MANIFEST} that names a package.")
    return facts


def _licence_text(folder: Path) -> str:
    """The text of the package's licence file."""
    for path in sorted(folder.iterdir()):
        if path.stem.lower() in _LICENCES and path.is_file():
            return path.read_bytes()[:_LICENCE_BYTES].decode("utf-8", "replace")
    return ""
