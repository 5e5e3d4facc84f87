"""The fingerprint of a catalog's sources, which tells whether a catalog that was built is still that of them."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from webapp.service.catalog import sources
from webapp.service.catalog.component_files import component_files, piece_files
from webapp.service.catalog.reading import unlisted


def fingerprint(places: sources.Places) -> str:
    """A hash over names and contents of every source file: it changes exactly when they do."""
    digests = [_digest(folder, _files(folder, places)) for folder in places.folders]
    if places.components is not None and (files := component_files(places.components)):
        digests.append(_digest(places.components, files))
    return hashlib.sha256("\1".join(digests).encode()).hexdigest()


def _digest(folder: Path, files: Iterable[Path]) -> str:
    digest, start = hashlib.sha256(), len(os.fspath(folder)) + 1
    for file in files:
        content = file.read_bytes()
        digest.update(f"{os.fspath(file)[start:]}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(folder: Path, places: sources.Places) -> Iterator[Path]:
    yield from filter(Path.is_file, [folder / sources.CATEGORIES])
    if folder == places.pieces:
        yield from filter(Path.is_file, [folder / unlisted.FILE])
    for file in sources.app_files(folder):
        yield from piece_files(file.parent) if folder == places.pieces else component_files(file.parent)
