"""npm's own registry: a current package is looked up, brought, and brought again by its lock."""

from pathlib import Path

import pytest

from webapp.errors import NotFound
from webapp.service.pieces.installer import Installer
from webapp.service.pieces.packages import Places, parse
from webapp.service.pieces.registry import Registry

pytestmark = pytest.mark.peer
WANTED = parse("store@0.6.20")


def test_a_package_is_looked_up(tmp_path: Path) -> None:
    release = Registry(tmp_path).look_up(WANTED)
    assert (release.package, release.version) == ("@activepieces/piece-store", "0.6.20")
    assert release.newest
    with pytest.raises(NotFound):
        Registry(tmp_path).look_up(parse("store@9999.0.0"))


def test_it_is_brought_and_the_same_again(tmp_path: Path) -> None:
    brought = Installer(Places(tmp_path / "one"), None, 100).from_registry(WANTED, "piece-store")
    other = Installer(Places(tmp_path / "other"), None, 100)
    other.again(brought, "piece-store")
    assert (other.places.package("piece-store", "0.6.20") / "node_modules" / WANTED.package / "package.json").is_file()
