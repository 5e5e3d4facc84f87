"""Unpacks the tarballs of npm by a lock, without npm and without a network.

A tarball is found by the SHA-512 of its bytes, so that none is unpacked but the one that the lock names. It is a
gzipped tar file whose members are below one folder, mostly ``package``. Members other than files and folders are
refused, as are names that lead out of the target folder.
"""

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from webapp.errors import Invalid
from webapp.service.pieces.package_locks import MANIFEST, Locked
from webapp.service.pieces.packages import MB, MOST_FILES

ENDINGS = (".tgz", ".tar.gz")
MOST_SKIPPED = 128 * MB
MOST_MANIFEST = 1 * MB
_AROUND = 2_048  # bytes that a file takes in a tarball in addition to its content
_LARGE = "{} unpacks to more than it may. Raise PATCHBAY_PIECE_MB to take it."
_BROKEN = "{} is no tarball of npm, or a damaged one."


def read(path: Path, most_mb: int) -> bytes:
    """Read a tarball. Raises :class:`Invalid`."""
    try:
        with path.open("rb") as file:
            content = file.read(most_mb * MB + 1)
    except OSError as error:
        raise Invalid(f"{path} cannot be read ({(error.strerror or 'no reason given').lower()}).") from error
    if len(content) > most_mb * MB:
        raise Invalid(f"{path.name} has more than {most_mb} MiB. Raise PATCHBAY_PIECE_MB to take it.")
    return content


def manifest(content: bytes, name: str) -> dict[str, Any]:
    """Return the package.json of a tarball; ``name`` is its file name. Raises :class:`Invalid`."""
    for member, read_it in _members(content, name, MOST_SKIPPED):
        if member.as_posix() == MANIFEST:
            try:
                facts = json.loads(read_it(MOST_MANIFEST))
            except (ValueError, RecursionError):
                break
            if isinstance(facts, dict) and isinstance(facts.get("name"), str):
                return facts
            break
    raise Invalid(f"{name} holds no package.json of a package.")


def member(path: Path, wanted: str, most_bytes: int) -> bytes | None:
    """The content of the file ``wanted`` in the tarball at ``path``, which is read no further; None if it has none.

    ``wanted`` is the path in the package. Raises :class:`Invalid`, also for a file of more than ``most_bytes``.
    """
    try:
        with path.open("rb") as file, tarfile.open(fileobj=file, mode="r|gz") as archive:
            for count, each in enumerate(archive):
                if count > MOST_FILES:
                    raise Invalid(_LARGE.format(path.name))
                if each.isreg() and PurePosixPath(*PurePosixPath(each.name).parts[1:]).as_posix() == wanted:
                    if each.size > most_bytes:
                        raise Invalid(f"{wanted} has {each.size / MB:.0f} MiB. It may have {most_bytes // MB} at most.")
                    return _content(archive, each, -1)
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise Invalid(_BROKEN.format(path.name)) from error
    return None


def unpack(packages: Iterable[Locked], contents: Mapping[bytes, bytes], target: Path, most_mb: int) -> None:
    """Unpack ``packages`` to their paths below ``target``, from ``contents`` by SHA-512.

    Raises :class:`Invalid` for a tarball that is missing or damaged.
    """
    left = most_mb * MB
    for each in packages:
        content = contents.get(each.sha512)
        if content is None:
            raise Invalid(f"The tarball of {each.name} {each.version} is missing, or is another than the lock names.")
        for member, read_it in _members(content, f"{each.name} {each.version}", left):
            data = read_it(-1)
            left -= len(data)
            place = target / each.path / member
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
            except (OSError, ValueError, RecursionError) as error:
                raise Invalid(f"{each.name} holds {str(member)[:80]!r}, which cannot be written here.") from error


def by_digest(contents: Iterable[bytes]) -> dict[bytes, bytes]:
    """Tarballs by their SHA-512."""
    return {hashlib.sha512(content).digest(): content for content in contents}


@dataclass(slots=True)
class _Unzipped:
    """Reads the file ``zipped``, of which at most ``left`` bytes remain; headers before a member may be long, too,
    and are read at once. Raises :class:`Invalid`.
    """

    zipped: gzip.GzipFile
    name: str
    left: int

    def read(self, size: int) -> bytes:
        self.left -= size
        if self.left < 0:
            raise Invalid(_LARGE.format(self.name))
        return self.zipped.read(size)


def _members(content: bytes, name: str, most_bytes: int) -> Iterator[tuple[PurePosixPath, Callable[[int], bytes]]]:
    """Yield the files of a tarball: the path in the package, and a function that reads so many bytes, or all (-1).

    Raises :class:`Invalid`.
    """
    count = size = 0
    try:
        unzipped = _Unzipped(gzip.GzipFile(fileobj=io.BytesIO(content)), name, most_bytes + MOST_FILES * _AROUND)
        with tarfile.open(fileobj=cast("IO[bytes]", unzipped), mode="r|") as archive:
            for member in archive:
                count, size = count + 1, size + member.size
                if count > MOST_FILES or size > most_bytes:
                    raise Invalid(_LARGE.format(name))
                if member.isdir():
                    continue
                path = PurePosixPath(member.name)
                inner = PurePosixPath(*path.parts[1:])
                if not member.isreg() or path.is_absolute() or ".." in path.parts or not inner.parts:
                    raise Invalid(f"{name} holds {member.name[:80]!r}, which is no file of a package; it is not taken.")
                yield inner, partial(_content, archive, member)
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise Invalid(_BROKEN.format(name)) from error


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, most: int) -> bytes:
    file = archive.extractfile(member)
    return file.read(most) if file else b""
