"""Packages of npm and PyPI that ``make facts`` compares with: each in one exact version, kept in ``instance/facts``."""

import base64
import functools
import gzip
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

CACHE = Path("instance/facts")


@functools.cache
def archive(package: str, version: str, integrity: str) -> Path:
    """The archive of ``package`` (``npm:name`` or ``pypi:name``), from the cache or else from its registry.

    Raises ``ValueError`` if it is not the one that the integrity names, ``OSError`` and
    :class:`subprocess.CalledProcessError` if it cannot be brought.
    """
    folder = CACHE / re.sub("[^a-z0-9]+", "-", f"{package}-{version}".lower()).strip("-")
    if not list(folder.glob("*.*")):
        folder.mkdir(parents=True, exist_ok=True)
        registry, _, name = package.partition(":")
        npm = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{name}@{version}"]
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), f"{name}=={version}"]
        subprocess.run(npm if registry == "npm" else pip, check=True, capture_output=True)
    (file,) = folder.glob("*.*")
    algorithm, _, digest = integrity.partition("-")
    if base64.b64encode(hashlib.new(algorithm, file.read_bytes()).digest()).decode() != digest:
        raise ValueError(f"{file} is not what {package} {version} was")
    return file


def content(file: Path, path: str) -> bytes:
    """The content of ``path`` in an archive. Raises ``ValueError`` or ``KeyError`` if it is no file."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as opened:
            return opened.read(path)
    with tarfile.open(file) as opened:
        top = next(iter(opened)).name.partition("/")[0]
        member = opened.extractfile(f"{top}/{path}")
        if member is None:
            raise ValueError(f"{path} is no file")
        return member.read()


def texts(file: Path, globs: tuple[str, ...]) -> Iterator[str]:
    """The texts of the files in an archive that fit one of ``globs``, such as ``dist/**/*.js``."""
    patterns = [re.compile(_pattern(glob)) for glob in globs]
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as opened:
            for name in opened.namelist():
                if any(pattern.fullmatch(name) for pattern in patterns):
                    yield _text(name, opened.read(name))
        return
    with tarfile.open(file) as opened:
        for member in opened:
            name = str(PurePosixPath(*PurePosixPath(member.name).parts[1:]))
            if member.isfile() and any(pattern.fullmatch(name) for pattern in patterns):
                data = opened.extractfile(member)
                if data is not None:
                    yield _text(name, data.read())


def _text(name: str, data: bytes) -> str:
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode(errors="replace")


def _pattern(glob: str) -> str:
    parts = {"**/": "(?:[^/]+/)*", "*": "[^/]*"}
    return "".join(parts.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*)", glob))


@functools.cache
def released_on(package: str, version: str) -> date:
    """When that version of ``package`` was published."""
    registry, _, name = package.partition(":")
    if registry == "npm":
        done = subprocess.run(["npm", "view", name, "time", "--json"], check=True, capture_output=True)
        return date.fromisoformat(json.loads(done.stdout)[version][:10])
    (file,) = (CACHE / re.sub("[^a-z0-9]+", "-", f"{package}-{version}".lower()).strip("-")).glob("*.*")
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as opened:
            return date(*max(info.date_time for info in opened.infolist())[:3])
    with tarfile.open(file) as opened:
        return datetime.fromtimestamp(max(member.mtime for member in opened), UTC).date()
