"""A registry of npm on loopback, and the folder of an installation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.npm_registry import NpmRegistry, registry
from webapp.service.pieces import npm
from webapp.service.pieces.installer import Installer
from webapp.service.pieces.packages import Places


@pytest.fixture(scope="session")
def _npm_registry() -> Iterator[NpmRegistry]:
    with registry() as served:
        yield served


@pytest.fixture
def served(_npm_registry: NpmRegistry) -> NpmRegistry:
    """An empty registry, which npm can ask."""
    if npm.command() is None:
        pytest.skip("there is no npm on this machine")
    _npm_registry.tarballs.clear()
    _npm_registry.asked.clear()
    _npm_registry.searches = False
    return _npm_registry


@pytest.fixture
def installer(tmp_path: Path, _npm_registry: NpmRegistry) -> Installer:
    """Brings packages of that registry to an empty folder, none of more than 1 MB."""
    return Installer(Places(tmp_path / "data"), _npm_registry.url, 1)
