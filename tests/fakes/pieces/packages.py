"""The pieces of the tests, installed as npm would: a prefix with the package and what it needs of the framework."""

import json
import os
import shutil
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent
MODULES = Path(__file__).parents[3] / "instance" / "node" / "node_modules"
SCOPE = "@patchbay-tests"
FRAMEWORK = "@activepieces/pieces-framework"
_UNUSED = frozenset({"ai", "socket.io-client"})  # named for their types alone


def install(prefix: Path, name: str) -> str:
    """Install the piece ``name`` of :data:`SOURCES` into the empty folder ``prefix``; what its package is called."""
    need_framework()
    package = f"{SCOPE}/piece-{name}"
    shutil.copytree(SOURCES / name, prefix / "node_modules" / package)
    (prefix / "package.json").write_text(json.dumps({"private": True, "dependencies": {package: "1.0.0"}}), "utf-8")
    bring(prefix, FRAMEWORK)
    return package


def need_framework() -> None:
    """Skip the test where the framework is missing, or fail it in CI."""
    if not (MODULES / FRAMEWORK).is_dir():
        reason = f"{FRAMEWORK} is missing; `python -m webapp.frontend --tests` installs what the tests run against"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)


def bring(prefix: Path, name: str) -> None:
    """Copy the code of the package ``name``, and what it needs."""
    source, target = MODULES / name, prefix / "node_modules" / name
    if target.exists():
        return
    shutil.copytree(source, target, ignore=_without_types)
    needed = {name for file in source.rglob("package.json") for name in _needs(file)}
    for dependency in needed - _UNUSED:
        if (MODULES / dependency).is_dir():
            bring(prefix, dependency)


def _needs(file: Path) -> list[str]:
    return list(json.loads(file.read_text("utf-8")).get("dependencies", {}))


def _without_types(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name.endswith((".map", ".ts", ".mts", ".cts", ".md"))]
