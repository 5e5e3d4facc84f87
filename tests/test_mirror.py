"""Where files stand: each module with behaviour has its tests in the mirrored place, ``webapp/a/b.py`` in
``tests/a/test_b.py``, and the top level holds what it is meant to.

There is no list of exceptions. A component of an app is run by the tests of its app instead.
"""

import ast
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
APPS = ROOT / "webapp" / "service" / "catalog" / "apps"  # components, which their apps' own tests run
TOP_LEVEL = {
    *("CHANGELOG.md", "LICENSE", "Makefile", "README.md", "pyproject.toml", "instance", "static", "templates", "tests"),
    *("package-lock.json", "package.json", "requirements-dev.lock", "requirements-node.lock", "requirements.lock"),
    "webapp",
}
_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.With, ast.Match, ast.comprehension)


def modules() -> set[str]:
    """Every module of the product, by its path below ``webapp``."""
    files = (ROOT / "webapp").rglob("*.py")
    return {
        file.relative_to(ROOT / "webapp").as_posix()
        for file in files
        if file.name != "__init__.py" and APPS not in file.parents
    }


def has_behaviour(module: str) -> bool:
    """Whether it holds a function that does more than give back one expression."""
    tree = ast.parse((ROOT / "webapp" / module).read_bytes())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return any(_does_something(function) for function in functions)


def _does_something(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return len(body) > 1 or any(isinstance(node, _BRANCHES) for part in body for node in ast.walk(part))


def is_tested(module: str) -> bool:
    path = Path(module)
    return (ROOT / "tests" / path.parent / f"test_{path.name.lstrip('_')}").exists()


def test_each_module_with_behaviour_has_its_tests_in_the_mirrored_place() -> None:
    every = modules()
    untested = {module for module in every if not is_tested(module)}  # few, while parsing all would take seconds
    assert len(every) - len(untested) > 200
    assert {module for module in untested if has_behaviour(module)} == set()
    assert [has_behaviour(module) for module in ("app.py", "service/domain/base/failures.py")] == [True, False]


def test_no_folder_of_tests_is_left_out_by_its_name(pytestconfig: pytest.Config) -> None:
    left_out = pytestconfig.getini("norecursedirs")
    folders = {parent for file in (ROOT / "tests").rglob("test_*.py") for parent in file.relative_to(ROOT).parents}
    assert {"build", "security"} <= {folder.name for folder in folders}
    assert not [folder for folder in folders for pattern in left_out if fnmatch(folder.name, pattern)]


def test_the_top_level_holds_what_it_is_meant_to() -> None:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a checkout of git")
    names = {line.split("/")[0] for line in listing.stdout.splitlines()}
    assert {name for name in names if not name.startswith(".")} == TOP_LEVEL
