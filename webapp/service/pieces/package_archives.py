"""Brings the archive of one package from npm or PyPI, by the registry's own client, and reads single files in it.

The client uses the operator's own settings, so that a company's registry, certificate and credentials apply. Nothing in
the package is run. An archive is taken only with the integrity that was named (Subresource Integrity, section 3.1), and
is removed once it was read.
"""

import base64
import hashlib
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from webapp.errors import Invalid, UpstreamFailed
from webapp.kit.scratch import Scratch
from webapp.service.pieces import npm, npm_tarballs
from webapp.service.pieces.packages import MB

DEADLINE_S = 120.0
MOST_MB = 300
SCRATCH = ".archive-"
NPM, PYPI = "npm", "pypi"
VERSION = r"^[0-9][0-9A-Za-z.+!-]*$"
"""An exact version. What else npm takes for one, such as an address, a tag or another package, is none."""
INTEGRITY = r"^sha(256|384|512)-[0-9A-Za-z+/]+={0,2}$"
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CONFIG_HOME", "NETRC")
_PREFIXES = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
_CHUNK = 1 << 20
_NO_PIP = "A package of PyPI is brought with pip, which this Python does not have. Install pip, or name a file instead."


@dataclass(frozen=True, slots=True)
class Package:
    """A package: ``registry`` is ``npm`` or ``pypi``; without a ``version``, its newest release.

    ``integrity`` is the archive's, such as ``sha512-…``; empty if it is not known before.
    """

    registry: str
    name: str
    version: str = ""
    integrity: str = ""

    @classmethod
    def of(cls, text: str, version: str = "", integrity: str = "") -> "Package":
        """The package that is written ``npm:name`` or ``pypi:name``."""
        registry, _, name = text.partition(":")
        return cls(registry, name, version, integrity)

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive on this disk, and the ``package`` in the exact version and with the integrity that it has."""

    package: Package
    path: Path

    def read(self, wanted: str, most_bytes: int) -> bytes:
        """The file ``wanted``, a path in the package. Raises :class:`Invalid`."""
        content = (_of_wheel if self.package.registry == PYPI else npm_tarballs.member)(self.path, wanted, most_bytes)
        if content is None:
            raise Invalid(f"{self.package} holds no file {wanted[:200]}.")
        return content


@contextmanager
def brought(package: Package, folder: Path, registry: str | None = None) -> Iterator[Archive]:
    """Bring the archive of ``package``, below ``folder`` and only within the block.

    ``registry`` is the address of npm's registry, if not that of npm's own settings. Raises :class:`UpstreamFailed`
    if the registry cannot be asked or has no such release, and :class:`Invalid` for other files than were named.
    """
    if package.version and not re.match(VERSION, package.version):
        raise Invalid(f"{package.version[:60]!r} is no version of {package.name}.")
    with Scratch(SCRATCH, folder) as draft:
        _bring(package, draft, registry)
        files = [path for path in draft.iterdir() if path.name.endswith((*npm_tarballs.ENDINGS, ".whl"))]
        if len(files) != 1:
            raise UpstreamFailed(f"The registry has no archive of {package} that can be read here.")
        yield checked(package, files[0])


def checked(package: Package, path: Path) -> Archive:
    """The archive at ``path``, if it is the one that was named. Raises :class:`Invalid`."""
    algorithm = package.integrity.partition("-")[0] or ("sha256" if package.registry == PYPI else "sha512")
    digest = hashlib.new(algorithm)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise Invalid(f"{path} cannot be read ({(error.strerror or 'no reason given').lower()}).") from error
    integrity = f"{algorithm}-{base64.b64encode(digest.digest()).decode()}"
    if package.integrity not in ("", integrity):
        raise Invalid(f"This is not {package} as it was named: its integrity differs. It is not taken.")
    version = package.version or _version(package, path)
    return Archive(Package(package.registry, package.name, version, integrity), path)


def _bring(package: Package, draft: Path, registry: str | None) -> None:
    if package.registry == NPM:
        spec = f"{package.name}@{package.version or 'latest'}"
        answer = npm.call(
            ["pack", spec], draft, registry=registry, deadline_s=DEADLINE_S, stopped=_large(draft), packs=True
        )
    else:
        if find_spec("pip") is None:
            raise UpstreamFailed(_NO_PIP)
        spec = f"{package.name}=={package.version}" if package.version else package.name
        options = (
            "--no-deps",
            "--only-binary=:all:",
            "--no-cache-dir",
            "--disable-pip-version-check",
            "--no-input",
            "-q",
        )
        command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(draft), spec]
        environment = {
            name: value for name, value in os.environ.items() if name in _PASSED or name.startswith(_PREFIXES)
        }
        answer = npm.run(command, draft, {**environment, "TMPDIR": str(draft)}, DEADLINE_S, _large(draft))
    if not answer.ok:
        raise UpstreamFailed(
            f"{package} could not be brought: {answer.reason}. Check this machine’s connection to the registry."
        )


def _large(draft: Path) -> Callable[[], str]:
    def stopped() -> str:
        size = sum(path.stat().st_size for path in draft.glob("*.*") if path.is_file())
        return f"it has more than {MOST_MB} MiB" if size > MOST_MB * MB else ""

    return stopped


def _version(package: Package, path: Path) -> str:
    """The version in the archive's file name: ``name-1.2.3.tgz``, ``name-1.2.3-py3-none-any.whl``."""
    stem = path.name.removesuffix(".whl").removesuffix(".tgz")
    if package.registry == PYPI:
        return stem.split("-")[1]
    return stem.removeprefix(f"{package.name.removeprefix('@').replace('/', '-')}-")


def _of_wheel(path: Path, wanted: str, most_bytes: int) -> bytes | None:
    try:
        with zipfile.ZipFile(path) as archive:
            if wanted not in archive.namelist():
                return None
            if archive.getinfo(wanted).file_size > most_bytes:
                raise Invalid(f"{wanted} is larger than {most_bytes // MB} MiB, which is the most that is read.")
            return archive.read(wanted)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
        raise Invalid(f"{path.name} is no wheel of PyPI, or a damaged one.") from error
