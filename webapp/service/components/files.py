"""The files of one call: a temporary folder, and the files in it that are returned to a caller who keeps them.

Only files that the component wrote by ``ctx.files`` are returned. Files that were in the folder before the call are
returned if they were changed. How large they may be together is decided in :mod:`webapp.body_limits`, and how many in
:mod:`.limits`.
"""

import base64
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from webapp.service.components import limits
from webapp.service.components.errors import ComponentError

Mark = tuple[int, int]


class Files:
    """The folder of this call, which is removed when the call ends. ``files`` are put into it: base64 by name."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._before: dict[str, Mark | None] = {}
        for name, content in files.items():
            path = self.path(name)
            path.write_bytes(base64.b64decode(content))
            self._before[name] = _mark(path)

    def path(self, name: str) -> Path:
        """The path of the file ``name``. Raises :class:`ComponentError` for a name that leaves the folder."""
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ComponentError(f"{name!r} is not the name of a file. Use a name without slashes.")
        self._before.setdefault(name, None)
        return Path(tempfile.gettempdir()) / name

    def write(self, name: str, content: bytes) -> Path:
        """Write a file and return its path."""
        path = self.path(name)
        path.write_bytes(content)
        return path

    def hand_over(self, send: Callable[[dict[str, Any]], None], log: Callable[[str], None]) -> None:
        """Send the files that were written, one message each; ``log`` gets a line for each that is too large to
        keep."""
        left = limits.STASH_BYTES
        for number, path in enumerate(self._written()):
            size = path.stat().st_size
            if size > left or number >= limits.STASH_FILES:
                most = f"{limits.STASH_BYTES // 2**20} MiB and {limits.STASH_FILES} files"
                log(f"{path.name} ({size:,} bytes) was not kept: a run may keep at most {most}.")
                continue
            left -= size
            send({"file": path.name, "content": base64.b64encode(path.read_bytes()).decode()})

    def _written(self) -> Iterator[Path]:
        for name, before in self._before.items():
            path = Path(tempfile.gettempdir()) / name
            if _mark(path) not in (None, before):
                yield path


def _mark(path: Path) -> Mark | None:
    """The modification time and size of a regular file; None for anything else."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
