"""Names say something: no variable is called by a word that fits everything."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEBAPP = ROOT / "webapp"
VAGUE = {"asked", "found", "given", "made", "one", "said", "thing", "things"}
_BOUND = re.compile(rf"\b(?:{'|'.join(VAGUE)})\b *(?:[:,)\]}}]|\W{{0,2}}=|in\b|$)", re.MULTILINE)


def test_variables_are_nouns_of_what_they_hold() -> None:
    names = {_name(file): _vague_names(file.read_text("utf-8")) for file in WEBAPP.rglob("*.py")}
    vague = {name: words for name, words in names.items() if words}
    assert vague == {}, f"none of {', '.join(sorted(VAGUE))} says what a variable holds"


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


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()
