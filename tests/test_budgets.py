"""What keeps the code readable: sizes of files, templates, lines, handlers and folders, and names that say something.

Sizes are met by splitting, never by packing.
"""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEBAPP = ROOT / "webapp"
MAX_FILES_IN_A_FOLDER = 25
ROUTES = {"get", "post", "put", "patch", "delete", "route"}
VAGUE = {"asked", "found", "given", "made", "one", "said", "thing", "things"}
_BOUND = re.compile(rf"\b(?:{'|'.join(VAGUE)})\b *(?:[:,)\]}}]|\W{{0,2}}=|in\b|$)", re.MULTILINE)
TOP_LEVEL = {
    *("CHANGELOG.md", "LICENSE", "Makefile", "README.md", "pyproject.toml", "instance", "static", "templates", "tests"),
    *("package-lock.json", "package.json", "requirements-dev.lock", "requirements-node.lock", "requirements.lock"),
    "webapp",
}


def test_python_files_are_short() -> None:
    sizes = {_name(file): len(_lines(file)) for file in WEBAPP.rglob("*.py")}
    assert {name: size for name, size in sizes.items() if size > 300} == {}
    assert _p95(list(sizes.values())) <= 200


def test_templates_are_short() -> None:
    sizes = [len(_lines(file)) for file in (ROOT / "templates").rglob("*.html")]
    assert _p95(sizes) <= 60


def test_the_lines_of_templates_fit_a_screen() -> None:
    widths = {_name(file): _width(file) for file in (ROOT / "templates").rglob("*.html")}
    assert {name: width for name, width in widths.items() if width > 160} == {}


@pytest.mark.parametrize("ending", ["css", "js"])
def test_the_lines_of_styles_and_scripts_fit_a_screen(ending: str) -> None:
    files = [file for file in (ROOT / "static").rglob(f"*.{ending}") if "vendor" not in file.parts]
    assert files
    assert {_name(file) for file in files if _width(file) > 120} == set()


def test_route_handlers_are_short() -> None:
    lengths = {f"{_name(file)} {node.name}": _length(node) for file in WEBAPP.rglob("*.py") for node in _handlers(file)}
    assert len(lengths) > 150
    longest = sorted(lengths, key=lambda name: -lengths[name])[:10]
    assert _p95(list(lengths.values())) <= 15, longest


@pytest.mark.parametrize("root", ["webapp", "tests"])
def test_folders_are_small(root: str) -> None:
    folders = Counter(_name(file.parent) for file in (ROOT / root).rglob("*.py") if file.name != "__init__.py")
    assert {name: count for name, count in folders.items() if count > MAX_FILES_IN_A_FOLDER} == {}


def test_the_top_level_holds_what_it_is_meant_to() -> None:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a checkout of git")
    names = {line.split("/")[0] for line in listing.stdout.splitlines()}
    assert {name for name in names if not name.startswith(".")} == TOP_LEVEL


def test_variables_are_nouns_of_what_they_hold() -> None:
    names = {_name(file): _vague_names(file.read_text("utf-8")) for file in WEBAPP.rglob("*.py")}
    assert {name: words for name, words in names.items() if words} == {}


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "found: int = 1",
        "self.found = 1",
        "a, found = b",
        "[1 for found in a]",
        "if (found := a): b",
        "def a(found): b",
        "lambda *found: b",
        "with a as found: b",
        "try: a\nexcept B as found: c",
        "import found",
        "from a import b as found",
        "match a:\n case [*found]: b",
        "match a:\n case {'b': found}: c",
    ],
)
def test_a_name_is_seen_wherever_it_is_bound(code: str) -> None:
    assert _vague_names(code) == {"found"}


def _vague_names(code: str) -> set[str]:
    if not _BOUND.search(code):  # most files, and far quicker than parsing
        return set()
    return {name for node in ast.walk(ast.parse(code)) if (name := _bound(node)) in VAGUE}


def _bound(node: ast.AST) -> str | None:
    """The variable, parameter or attribute that ``node`` gives a value to, if any."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
        case ast.alias(name=name, asname=other):
            return other or name
    return None


def _handlers(file: Path) -> Iterator[ast.FunctionDef]:
    """The functions that answer a route: decorated as one, or an operation of the API, which takes a ``Call``."""
    api = "service/api/" in _name(file)
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            annotations = {ast.unparse(argument.annotation) for argument in node.args.args if argument.annotation}
            is_operation = api and "Call" in annotations and not node.name.startswith("_")
            if is_operation or any(map(_is_route, node.decorator_list)):
                yield node


def _is_route(decorator: ast.expr) -> bool:
    call = decorator.func if isinstance(decorator, ast.Call) else None
    return isinstance(call, ast.Attribute) and call.attr in ROUTES


def _length(node: ast.FunctionDef) -> int:
    """Lines from ``def`` to the end, its docstring among them."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _p95(sizes: Sequence[int]) -> int:
    return sorted(sizes)[int(len(sizes) * 0.95)]


def _width(file: Path) -> int:
    return max(map(len, _lines(file)), default=0)


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()
