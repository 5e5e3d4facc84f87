"""Archives of npm and PyPI: brought by the registry's client, taken only as they were named, and gone afterwards."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.api_archives import integrity, tarball, wheel
from webapp.errors import Invalid, UpstreamFailed
from webapp.service.pieces import npm, package_archives
from webapp.service.pieces.npm import Answer
from webapp.service.pieces.package_archives import Package, brought, checked

DOCUMENT: dict[str, Any] = {"openapi": "3.1.0"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "registry"
    folder.mkdir()
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def serving(path: Path) -> Callable[..., Answer]:
    """A client that puts the archive into its folder, as npm and pip do."""

    def call(command: Any, folder: Path, *_: Any, **__: Any) -> Answer:
        shutil.copy(path, folder)
        return Answer(0, "", "")

    return call


def test_a_package_of_npm_is_brought_and_read(source: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tarball(source, DOCUMENT, "acme-openapi-1.2.0.tgz")
    monkeypatch.setattr(npm, "call", serving(path))
    with brought(Package.of("npm:@acme/openapi"), data) as archive:
        assert archive.read("openapi.json", 100) == b'{"openapi": "3.1.0"}'
        assert archive.package == Package("npm", "@acme/openapi", "1.2.0", integrity(path))
    assert list(data.iterdir()) == []


def test_a_package_of_pypi_is_brought_and_read(source: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel(source, DOCUMENT)
    monkeypatch.setattr(npm, "run", serving(path))
    wanted = Package.of("pypi:acme-spec", "2.0.0", integrity(path, "sha256"))
    with brought(wanted, data) as archive:
        assert archive.read("acme/openapi.json", 100) == b'{"openapi": "3.1.0"}'
        assert archive.package == wanted


def test_pip_is_asked_for_one_release_without_our_settings(
    source: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def run(command: Any, folder: Path, environment: Any, *_: Any) -> Answer:
        asked.append((command, environment))
        shutil.copy(wheel(source, DOCUMENT), folder)
        return Answer(0, "", "")

    monkeypatch.setattr(npm, "run", run)
    monkeypatch.setenv("PATCHBAY_SECRET_KEY", "canary")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/etc/company-pip.conf")
    with brought(Package("pypi", "acme-spec", "2.0.0"), data):
        ((command, environment),) = asked
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert (command[-1], "--no-deps" in command) == ("acme-spec==2.0.0", True)
    assert environment["PIP_CONFIG_FILE"] == "/etc/company-pip.conf"
    assert "canary" not in str(environment)


def test_without_pip_it_says_so(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_archives, "find_spec", lambda name: None)
    with pytest.raises(UpstreamFailed, match="which this Python does not have"), brought(Package("pypi", "a"), data):
        pass


def test_another_archive_is_not_taken(source: Path) -> None:
    path = tarball(source, DOCUMENT)
    with pytest.raises(Invalid, match=r"not acme 1\.0\.0 as it was named: its integrity differs"):
        checked(Package("npm", "acme", "1.0.0", "sha512-AAAA"), path)
    with pytest.raises(Invalid, match="cannot be read"):
        checked(Package("npm", "acme"), source / "none.tgz")


@pytest.mark.parametrize("registry", ["npm", "pypi"])
def test_what_is_no_archive_or_lacks_the_file_is_one_sentence(registry: str, source: Path) -> None:
    good = tarball(source, DOCUMENT) if registry == "npm" else wheel(source, DOCUMENT)
    package = Package(registry, "acme", "1.0.0")
    with pytest.raises(Invalid, match=r"acme 1\.0\.0 holds no file other\.json"):
        checked(package, good).read("other.json", 100)
    wanted = "openapi.json" if registry == "npm" else "acme/openapi.json"
    with pytest.raises(Invalid, match="MiB"):
        checked(package, good).read(wanted, 5)
    broken = source / good.name
    broken.write_bytes(good.read_bytes()[:40])
    with pytest.raises(Invalid, match="or a damaged one"):
        checked(package, broken).read(wanted, 100)


def test_a_registry_that_answers_nothing_is_one_sentence(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npm, "call", lambda *_, **__: Answer(1, "", "npm error 404 Not Found\n"))
    with (
        pytest.raises(UpstreamFailed, match="acme could not be brought: 404 Not Found"),
        brought(Package("npm", "acme"), data),
    ):
        pass
    monkeypatch.setattr(npm, "call", lambda *_, **__: Answer(0, "", ""))
    with pytest.raises(UpstreamFailed, match="no archive of acme"), brought(Package("npm", "acme"), data):
        pass
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("version", ["https://inside.example/x.tgz", "file:../x", "npm:other@1", "latest", "--json"])
def test_what_is_no_exact_version_reaches_no_registry(tmp_path: Path, version: str) -> None:
    with pytest.raises(Invalid, match="is no version of acme"), brought(Package("npm", "acme", version), tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
