"""Each module with behaviour has its tests in the mirrored place: ``webapp/a/b.py`` in ``tests/a/test_b.py``.

The list of those that have none yet only shrinks: an entry goes when its module does, or when its tests stand.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
APPS = ROOT / "webapp" / "service" / "catalog" / "apps"  # components, which their apps' own tests run
WITHOUT_TESTS = frozenset(
    {
    }
)
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
    missing = {module for module in modules() if has_behaviour(module) and not is_tested(module)}
    assert missing - WITHOUT_TESTS == set()


def test_the_list_of_those_that_have_none_only_shrinks() -> None:
    assert WITHOUT_TESTS - modules() == set(), "these are gone; take them off the list"
    assert {module for module in WITHOUT_TESTS if is_tested(module)} == set(), (
        "these have tests; take them off the list"
    )
