"""The folders of templates and static files, and URLs of static files that browsers may cache for a year.

:func:`templates_dir` and :func:`static_dir` work in a source tree and in an installed wheel. A style sheet is sent as
one file: each ``@import`` is replaced with the file that it imports, and comments and indentation are removed. Sending
the files is left to :mod:`webapp.static_files`.
"""

import functools
import hashlib
import re
import time
from pathlib import Path

YEAR = 365 * 24 * 3600
"""Seconds for which a versioned file may be cached (RFC 9111 5.2.2.1, RFC 8246 immutable)."""

IMMUTABLE = f"public, max-age={YEAR}, immutable"
_COMMENT, _LAYOUT = re.compile(rb"/\*.*?\*/", re.DOTALL), re.compile(rb"\s*\n\s*")
_IMPORT = re.compile(rb'@import "([\w./-]+)";\n')


def templates_dir() -> Path:
    """The folder of the Jinja templates."""
    return _assets() / "templates"


def static_dir() -> Path:
    """The folder that is served below ``/static``."""
    return _assets() / "static"


def asset_url(path: str, prefix: str = "/static") -> str:
    """The URL of a file below ``static/``, with the hash of its content, so that it can be cached for ever.

    After an edit, the URL changes within a second. Files in ``vendor/`` have their version in the name, so their URLs
    have no hash.
    """
    url = f"{prefix}/{path}"
    if path.startswith("vendor/"):
        return url
    version = _version(path, int(time.monotonic()))
    return f"{url}?v={version}" if version else url


def content_hash(path: str) -> str:
    """The first twelve hex digits of the SHA-256 of a file below ``static/``; empty if it does not exist."""
    file = static_dir() / path
    try:
        return _hash(file, state(file))
    except OSError:
        return ""


def cache_control(path: str, version: str | None) -> str:
    """The ``Cache-Control`` of a file below ``static/`` that was requested with ``?v=version``."""
    if path.startswith("vendor/") or (version and version == content_hash(path)):
        return IMMUTABLE
    return "no-cache"


def joined(file: Path) -> bytes:
    """The content of ``file``; a style sheet with its imports and without comments. Raises ``OSError``."""
    if file.suffix != ".css":
        return file.read_bytes()
    whole = _IMPORT.sub(lambda match: (file.parent / match[1].decode()).read_bytes(), file.read_bytes())
    return _LAYOUT.sub(b"\n", _COMMENT.sub(b"", whole))


def state(file: Path) -> tuple[tuple[int, int], ...]:
    """The times (nanoseconds) and sizes (bytes) of the files in :func:`joined`. Raises ``OSError``."""
    first = _state(file)
    parts = _parts(file, *first) if file.suffix == ".css" else ()
    return (first, *map(_state, parts))


@functools.lru_cache(maxsize=256)
def _parts(file: Path, mtime_ns: int, size: int) -> tuple[Path, ...]:
    """The imports of a style sheet; the time and size invalidate the cache."""
    return tuple(file.parent / name.decode() for name in _IMPORT.findall(file.read_bytes()))


def _state(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_mtime_ns, status.st_size


@functools.cache
def _assets() -> Path:
    package = Path(__file__).resolve().parent.parent
    installed = package / "_assets"
    return installed if installed.is_dir() else package.parent


@functools.lru_cache(maxsize=256)
def _version(path: str, second: int) -> str:
    """The content hash, cached for one second: a page has several files, each of which may have a dozen imports."""
    return content_hash(path)


@functools.lru_cache(maxsize=256)
def _hash(file: Path, edited: tuple[tuple[int, int], ...]) -> str:
    """The content hash; ``edited`` invalidates the cache, so that an edited file gets a new URL without a restart."""
    return hashlib.sha256(joined(file)).hexdigest()[:12]
