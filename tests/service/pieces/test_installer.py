"""Bringing packages: from the registry, a tarball, or a folder, each with its lock, and the same on another machine."""

import json
import socket
import subprocess
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.npm_registry import LICENCE, NpmRegistry, package
from webapp.errors import Invalid
from webapp.service.pieces import npm, packages
from webapp.service.pieces.installer import Installer, Stopped
from webapp.service.pieces.packages import Places, Wanted

NAME = "@activepieces/piece-shop"


def leftovers(installer: Installer) -> list[str]:
    return [path.name for path in installer.places.root.iterdir() if path.name.startswith(".")]


@pytest.mark.peer
def test_a_package_of_the_registry_comes_with_what_it_needs_and_again_by_its_lock(
    installer: Installer, served: NpmRegistry, tmp_path: Path
) -> None:
    served.publish(package("helper", "2.0.0"))
    scripts = {"postinstall": "touch /dev/shm/patchbay-was-here"}
    served.publish(package(NAME, dependencies={"helper": "^2.0.0"}, scripts=scripts, bin={"x": "index.js"}))
    brought = installer.from_registry(Wanted(NAME), "piece-shop")
    place = installer.places.package("piece-shop", "1.0.0")
    assert (brought.version, brought.licence, brought.licence_text) == ("1.0.0", "MIT", LICENCE)
    assert (place / "node_modules" / "helper" / "index.js").is_file()
    assert not (place / "node_modules" / ".bin").exists()
    assert not Path("/dev/shm/patchbay-was-here").exists()
    assert leftovers(installer) == []
    other = replace(installer, places=Places(tmp_path / "other"))
    other.again(brought, "piece-shop")
    assert packages.digest(other.places.package("piece-shop", "1.0.0") / "node_modules") == brought.digest
    served.publish(package("helper", "2.0.0", files={"index.js": "module.exports = 'evil';"}))
    with pytest.raises(Invalid, match=r"not what it was|npm could not bring it"):
        other.again(brought, "piece-shop")
    assert packages.digest(other.places.package("piece-shop", "1.0.0") / "node_modules") == brought.digest


@pytest.mark.peer
def test_npm_asks_no_address_that_a_package_names(installer: Installer, served: NpmRegistry) -> None:
    asked = list[str]()
    with socket.create_server(("127.0.0.1", 0)) as inside:
        threading.Thread(target=_count, args=(inside, asked), daemon=True).start()
        address = f"http://127.0.0.1:{inside.getsockname()[1]}/secret.tgz"
        served.publish(package(NAME, peerDependencies={"helper": address}))
        with pytest.raises(Invalid, match=r"which is no registry|have been disabled"):
            installer.from_registry(Wanted(NAME), "piece-shop")
    assert leftovers(installer) == []
    if _npm_version() < (11, 14):
        pytest.skip("this npm asks first; what comes is refused all the same")
    assert asked == []


def _npm_version() -> tuple[int, ...]:
    told = subprocess.run([*(npm.command() or ()), "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in told.split("-")[0].split("."))


def _count(server: socket.socket, asked: list[str]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            asked.append(connection.recv(99).decode())
            connection.close()


def test_a_tarball_and_a_folder_of_tarballs_need_no_npm_and_no_network(installer: Installer, tmp_path: Path) -> None:
    offline = tmp_path / "offline"
    offline.mkdir()
    (offline / "shop.tgz").write_bytes(package(NAME))
    alone = replace(installer, registry="http://127.0.0.1:1")
    brought = alone.from_tarball(offline / "shop.tgz", "piece-shop")
    assert alone.from_offline(offline, NAME, "piece-shop").digest == brought.digest
    assert (installer.places.package("piece-shop", "1.0.0") / "package.json").is_file()
    with pytest.raises(Invalid, match="nor a tarball of @acme/other"):
        alone.from_offline(offline, "@acme/other", "other")
    (offline / "shop.tgz").write_bytes(package(NAME, dependencies={"helper": "1"}))
    with pytest.raises(Invalid, match=r"put the package-lock\.json"):
        alone.from_offline(offline, NAME, "piece-shop")


@pytest.mark.peer
def test_a_folder_with_the_lock_brings_what_it_names(installer: Installer, served: NpmRegistry, tmp_path: Path) -> None:
    tarballs = {"shop.tgz": package(NAME, dependencies={"helper": "1.0.0"}), "helper.tgz": package("helper")}
    for content in tarballs.values():
        served.publish(content)
    brought = installer.from_registry(Wanted(NAME), "piece-shop")
    offline = tmp_path / "offline"
    offline.mkdir()
    (offline / "package-lock.json").write_text(brought.lock)
    for name, content in tarballs.items():
        (offline / name).write_bytes(content)
    other = replace(installer, places=Places(tmp_path / "other"), registry="http://127.0.0.1:1")
    brought_again = other.from_offline(offline, NAME, "piece-shop")
    assert {path.name for path in (other.places.package("piece-shop", "1.0.0") / "node_modules").iterdir()} == {
        "@activepieces", "helper",
    }  # fmt: skip
    assert brought_again.version == brought.version


@pytest.mark.peer
def test_an_authors_folder_is_packed_as_npm_packs_it(installer: Installer, served: NpmRegistry, tmp_path: Path) -> None:
    source = tmp_path / "mine"
    source.mkdir()
    (source / "package.json").write_text(json.dumps({"name": "@acme/piece-mine", "version": "0.1.0"}))
    (source / "index.js").write_text("module.exports = {};")
    brought = installer.from_folder(source, "acme--piece-mine", "0.1.17")
    place = installer.places.package("acme--piece-mine", "0.1.17")
    assert (brought.version, (place / "node_modules" / "@acme" / "piece-mine").is_symlink()) == ("0.1.17", False)


def test_what_is_too_large_or_stopped_leaves_nothing(installer: Installer, tmp_path: Path) -> None:
    large = tmp_path / "large.tgz"
    large.write_bytes(package(NAME, files={"large.js": "x" * (1 << 20)}))
    with pytest.raises(Invalid, match="PATCHBAY_PIECE_MB"):
        installer.from_tarball(large, "piece-shop")
    large.write_bytes(package(NAME))
    with pytest.raises(Stopped):
        replace(installer, stopped=lambda: True).from_tarball(large, "piece-shop")
    large.write_bytes(package(NAME, "1.0.0-beta.1"))
    with pytest.raises(Invalid, match="no released version"):
        installer.from_tarball(large, "piece-shop")
    assert leftovers(installer) == []
    assert not installer.places.versions("piece-shop").exists()
