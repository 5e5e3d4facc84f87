"""Uploaded documents, kept between the page that reads them and the one that imports them.

They are in the data folder under a random name, and are removed after an hour.
"""

import gzip
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path

from webapp.dashboard.client.build.imported_apps import Document

FOLDER = ".import-drafts"
LIFETIME_S = 3600.0
_NAME = re.compile(r"[A-Za-z0-9_-]{43}")


class Drafts:
    """Those in one data folder."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def put(self, document: Document) -> str:
        """Keep ``document``; the name under which it is found again."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._sweep()
        name = secrets.token_urlsafe(32)
        content = f"{document.name}\n".encode(errors="replace") + document.content
        (self._folder / name).write_bytes(gzip.compress(content, 1))
        return name

    def get(self, name: str) -> Document | None:
        """The document; None if it was removed."""
        if not _NAME.fullmatch(name):
            return None
        try:
            content = gzip.decompress((self._folder / name).read_bytes())
        except (OSError, EOFError):
            return None
        first, _, rest = content.partition(b"\n")
        return Document(rest, first.decode())

    def drop(self, name: str) -> None:
        """Forget it."""
        if _NAME.fullmatch(name):
            (self._folder / name).unlink(missing_ok=True)

    def _sweep(self) -> None:
        for file in self._folder.iterdir():
            with suppress(OSError):
                if time.time() - file.stat().st_mtime > LIFETIME_S:
                    file.unlink()
