"""A style sheet is written in one file a noun, and sent as one: each ``@import`` is replaced by what it names.

A browser that is given the files as they stand shows the same, after more requests.
"""

import functools
import re
from pathlib import Path

_IMPORT = re.compile(rb'@import "([\w./-]+)";\n')


def joined(file: Path) -> bytes:
    """The content of ``file`` with its imports in it; any file but a style sheet as it is. Raises OSError."""
    if file.suffix != ".css":
        return file.read_bytes()
    return _IMPORT.sub(lambda found: (file.parent / found[1].decode()).read_bytes(), file.read_bytes())


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
    found = file.stat()
    return found.st_mtime_ns, found.st_size
