"""Whatever is imported is named in ``pyproject.toml``, so that it is there when the package that brings it drops it."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
UNNAMED = {
    *("webapp", "tests"),
    "granian",  # measured by `make bench-servers` where somebody has installed it
}


def imported(folder: str) -> set[str]:
    """The top-level packages that the modules in ``folder`` import, of those that are installed."""
    texts = (file.read_text("utf-8") for file in (ROOT / folder).rglob("*.py"))
    names = {name for text in texts for name in IMPORT.findall(text)}
    return (names & packages_distributions().keys()) - sys.stdlib_module_names - UNNAMED


def named(*groups: str) -> set[str]:
    """The distributions that the project itself needs, and those of ``groups``."""
    lines = [*PROJECT["project"]["dependencies"]]
    lines += [line for group in groups for line in PROJECT["dependency-groups"][group]]
    return {_normal(re.split(r"[\[<>=!~ ]", line)[0]) for line in lines}


def _normal(name: str) -> str:
    """``name`` as package registries compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(("folder", "groups"), [("webapp", ("build",)), ("tests", ("build", "dev", "browser"))])
def test_each_package_that_is_imported_is_a_named_dependency(folder: str, groups: tuple[str, ...]) -> None:
    distributions, known = packages_distributions(), named(*groups)
    packages = imported(folder)
    assert len(packages) > 20
    assert {package for package in packages if not known & set(map(_normal, distributions[package]))} == set()
