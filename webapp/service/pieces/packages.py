"""A package of npm on this disk: its name, its folder below ``DATA/pieces``, and its files.

Files are limited in size, contain no links, and are identified by one digest.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from webapp.errors import Invalid
from webapp.kit import scratch, slugs

SCOPE = "@activepieces/"
_NAME = re.compile(r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*")
_VERSION = re.compile(r"(?:0|[1-9]\d{0,14})(?:\.(?:0|[1-9]\d{0,14})){2}")
_LONGEST = 150
MOST_FILES = 20_000
MODULES = "node_modules"
MB = 1 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package and its version; "" for the newest."""

    package: str
    version: str = ""

    @property
    def spec(self) -> str:
        """The package in npm's notation."""
        return f"{self.package}@{self.version or 'latest'}"


def parse(text: str) -> Wanted:
    """Parse ``NAME[@VERSION]``. Raises :class:`Invalid`."""
    typed = text.strip()
    name, at, version = typed.rpartition("@") if "@" in typed[1:] else (typed, "", "")
    name = name.lower()
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        raise Invalid.of("name", f"{text[:80]!r} is no name of a package. Use one such as slack or @acme/piece-shop.")
    if at and not is_version(version):
        raise Invalid.of("version", f"{version[:40]!r} is no released version. Use one such as 1.4.0.")
    if name.startswith("@") or "piece-" in name[1:]:
        return Wanted(name, version)
    return Wanted(f"{SCOPE}{name if name.startswith('piece-') else f'piece-{name}'}", version)


def is_version(text: str) -> bool:
    """Whether ``text`` is the number of a released version."""
    return bool(_VERSION.fullmatch(text))


def newer(version: str, than: str) -> bool:
    """Whether ``version`` is later than ``than``; any version is later than ""."""
    return _parts(version) > _parts(than)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split("."))) if is_version(version) else ()


def folder(package: str) -> str:
    """The folder of a package: its name without ``@activepieces/``; for others it contains the scope."""
    if package.startswith(SCOPE):
        return package.removeprefix(SCOPE)
    return package.removeprefix("@").replace("/", "--") if package.startswith("@") else f"unscoped--{package}"


def title(package: str) -> str:
    """The name of a package before its description is known."""
    return slugs.words(package.rpartition("/")[2].removeprefix("piece-"))


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of an installation with the data folder ``data``."""

    data: Path

    @property
    def root(self) -> Path:
        """The folder of all integrations."""
        return self.data / "pieces"

    def versions(self, package_folder: str) -> Path:
        """The folder of all versions of one package."""
        return self.root / "packages" / package_folder

    def package(self, package_folder: str, version: str) -> Path:
        """The folder of one version of one package, an npm prefix."""
        return self.versions(package_folder) / version


def check(folder: Path, most_mb: int) -> int:
    """The number of bytes in ``folder``. Raises :class:`Invalid` if it is no package or too large."""
    size = count = 0
    for path, facts in _walk(folder):
        if not stat.S_ISREG(facts.st_mode):
            raise Invalid(f"The package holds {path.name}, which is neither a file nor a folder; it is not added.")
        size, count = size + facts.st_size, count + 1
        if count > MOST_FILES:
            raise Invalid(f"The package has more than {MOST_FILES:,} files; it is not added.")
        if size > most_mb * MB:
            raise Invalid(
                f"The package has more than {most_mb} MiB; it is not added. Whoever runs this machine can raise "
                "PATCHBAY_PIECE_MB."
            )
    return size


def size(folder: Path) -> int:
    """The number of bytes in ``folder`` now, while other processes may write there."""
    return sum(facts.st_size for _, facts in _walk(folder))


def digest(folder: Path) -> str:
    """A hash of the names and contents of all files in ``folder``; "" if it does not exist."""
    if not folder.is_dir():
        return ""
    total = hashlib.sha256()
    for path, facts in sorted(_walk(folder), key=lambda each: os.fsencode(each[0])):
        name = path.relative_to(folder).as_posix()
        content = _hash(path) if stat.S_ISREG(facts.st_mode) else "none"
        total.update(f"{name}\0{content}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def seal(folder: Path) -> None:
    """Make the files in ``folder`` read-only, so that nothing changes them by mistake."""
    for path, facts in _walk(folder):
        if stat.S_ISREG(facts.st_mode):
            path.chmod(0o444)


def remove(folder: Path) -> None:
    """Remove ``folder`` if it exists."""
    scratch.remove(folder)


def changed_at(folder: Path) -> int:
    """The time when an author last changed a file in ``folder`` (epoch milliseconds), without files that npm
    installed.
    """
    moments = [facts.st_mtime_ns for _, facts in _walk(folder, (MODULES, ".git"))]
    return max(moments, default=0) // 1_000_000


def _walk(folder: Path, without: tuple[str, ...] = ()) -> Iterator[tuple[Path, os.stat_result]]:
    """All files below ``folder`` at any depth; links are returned and not followed."""
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:  # deleted meanwhile
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting += [] if entry.name in without else [Path(entry.path)]
                continue
            with suppress(OSError):
                yield Path(entry.path), entry.stat(follow_symlinks=False)


def _hash(path: Path) -> str:
    content = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            content.update(chunk)
    return content.hexdigest()
