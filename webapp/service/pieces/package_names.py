"""What a package may be called, and where its files stand below ``DATA/pieces``.

A package is named as npm names it, or by what is behind ``piece-``: ``slack`` is ``@activepieces/piece-slack``. An
address of a tarball or of a repository is no name: what is brought comes from the registry, with its integrity.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from webapp.errors import Invalid
from webapp.kit import slugs

SCOPE = "@activepieces/"
_NAME = re.compile(r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*")
_VERSION = re.compile(r"(?:0|[1-9]\d{0,14})(?:\.(?:0|[1-9]\d{0,14})){2}")
_LONGEST = 150


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package, and the version that is wanted of it; "" for the newest."""

    package: str
    version: str = ""

    @property
    def spec(self) -> str:
        """As npm reads it."""
        return f"{self.package}@{self.version or 'latest'}"


def parse(text: str) -> Wanted:
    """What ``NAME[@VERSION]`` names. Raises :class:`Invalid`."""
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
    """Whether ``version`` is a later one; each is later than none."""
    return _parts(version) > _parts(than)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split("."))) if is_version(version) else ()


def folder(package: str) -> str:
    """The folder of a package: its name without ``@activepieces/``; of others it tells the scope, too."""
    if package.startswith(SCOPE):
        return package.removeprefix(SCOPE)
    return package.removeprefix("@").replace("/", "--") if package.startswith("@") else f"unscoped--{package}"


def title(package: str) -> str:
    """What a package is called before it tells."""
    return slugs.words(package.rpartition("/")[2].removeprefix("piece-"))


@dataclass(frozen=True, slots=True)
class Places:
    """Where things stand in an installation with the folder ``data``."""

    data: Path

    @property
    def root(self) -> Path:
        """The folder of all that belongs to integrations."""
        return self.data / "pieces"

    def versions(self, package_folder: str) -> Path:
        """The versions of one package."""
        return self.root / "packages" / package_folder

    def package(self, package_folder: str, version: str) -> Path:
        """One version of one package: a prefix of npm."""
        return self.versions(package_folder) / version
