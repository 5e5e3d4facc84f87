"""Where templates and static files live, and the URLs of the latter, which may be cached for a year.

:func:`templates_dir` and :func:`static_dir` work in a source tree and in an installed wheel. A style sheet is written
in one file a noun, and sent as one: each ``@import`` is replaced by what it names, and comments and indentation are
left out. A browser that is given the files as they stand shows the same, after more requests.
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
    """The URL of a file below ``static/``, with the hash of its content, so that it never goes stale.

    An edited file has another within a second. Files in ``vendor/`` have their version in the name and are named as
    they are, as style sheets name them.
    """
    url = f"{prefix}/{path}"
    if path.startswith("vendor/"):
        return url
    version = _version(path, int(time.monotonic()))
    return f"{url}?v={version}" if version else url


def content_hash(path: str) -> str:
    """Twelve hex digits of the SHA-256 of a file below ``static/``; empty where there is no such file."""
    file = static_dir() / path
    try:
        return _hash(file, state(file))
    except OSError:
        return ""


def cache_control(path: str, version: str | None) -> str:
    """The ``Cache-Control`` of a file below ``static/`` that was asked for with ``?v=version``."""
    if path.startswith("vendor/") or (version and version == content_hash(path)):
        return IMMUTABLE
    return "no-cache"


def joined(file: Path) -> bytes:
    """The content of ``file``; of a style sheet with its imports in it, without comments. Raises OSError."""
    if file.suffix != ".css":
        return file.read_bytes()
    whole = _IMPORT.sub(lambda match: (file.parent / match[1].decode()).read_bytes(), file.read_bytes())
    return _LAYOUT.sub(b"\n", _COMMENT.sub(b"", whole))


def state(file: Path) -> tuple[tuple[int, int], ...]:
    """What changes whenever :func:`joined` does: times in nanoseconds and sizes in bytes. Raises OSError."""
    first = _state(file)
    parts = _parts(file, *first) if file.suffix == ".css" else ()
    return (first, *map(_state, parts))


@functools.lru_cache(maxsize=256)
def _parts(file: Path, mtime_ns: int, size: int) -> tuple[Path, ...]:
    """Keyed by time and size as well, as they change with the imports."""
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
    """Keyed by the second as well: a page names several files, and each of them may have a dozen parts to look at."""
    return content_hash(path)


@functools.lru_cache(maxsize=256)
def _hash(file: Path, edited: tuple[tuple[int, int], ...]) -> str:
    """Keyed by times and sizes as well, so that an edited file gets a new URL without a restart."""
    return hashlib.sha256(joined(file)).hexdigest()[:12]
