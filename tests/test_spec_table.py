"""``tests/SPEC.md`` says only what is so: its tests exist, nothing that its list of contents names is left out, and the
list itself has the specification's sections, each with as many sentences, fields and operations as there are.
"""

import ast
import re
from pathlib import Path

import pytest

from tests.mutants.spec_rows import ROOT, TEXT, cells, sections
from tests.service.api.test_specification import FIELDS
from webapp.service.api.table import OPERATIONS

Row = tuple[list[str], str, list[str]]

CONTENTS = [
    (number, int(count), re.findall("`([^`]+)`", names)) for number, count, names in cells(sections()["Contents"])
]
ROWS: dict[str, list[Row]] = {
    number: [(re.findall("`([^`]+)`", names), said, shown.split("<br>")) for names, said, shown in cells(block)]
    for number, block in sections().items()
    if number != "Contents"
}
CITED = sorted({test.strip("`") for rows in ROWS.values() for _, _, tests in rows for test in tests})


# How many sentences each section of the specification has outside its tables, as counted there.
SENTENCES = {
    "0": 3, "1": 14, "2": 3, "2.1": 0, "2.2": 0, "2.3": 1, "2.4": 0, "2.5": 1, "2.6": 0, "2.6a": 0, "2.7": 0, "2.8": 0,
    "2.9": 0, "2.10": 1, "2.11": 1, "2.12": 1, "2.13": 2, "2.14": 0, "3": 3, "4": 5, "4.1": 4, "4.2": 3, "4.3": 5,
    "4.4": 4, "4.5": 4, "4.6": 3, "4.7": 4, "4.7a": 3, "4.8": 4, "4.9": 5, "4.10": 3, "4.11": 4, "4.12": 2, "4.13": 3,
    "4.14": 5, "4.15": 3, "4.16": 4, "4.17": 2, "5.1": 1, "5.2": 6, "5.3": 3, "5.4": 2, "5.5": 2, "5.6": 4, "5.7": 1,
    "5.8": 1, "6": 10, "7": 3, "8": 6, "9": 5,
}  # fmt: skip
# How many rows its other tables have: of requests, states, scopes, errors and limits.
TABLES = {"2.1": 9, "3": 4, "4.3": 10, "4.6": 10, "4.8": 8, "5.5": 16, "7": 2, "8": 4}


def test_every_section_is_there_in_its_order() -> None:
    assert list(ROWS) == [number for number, _, _ in CONTENTS] == list(SENTENCES)
    assert {number: count for number, count, _ in CONTENTS} == SENTENCES


def test_every_row_of_every_table_is_there() -> None:
    """The fields of a resource are those that answers are checked for; the other tables are counted."""
    for number, _, names in CONTENTS:
        assert len(names) == len(set(names))
        if number.startswith("2.") and names and number != "2.1":
            checked = " ".join(FIELDS[number].values()).replace("?", "").split()
            assert sorted(names) == sorted(checked), number
        else:
            assert len(names) == TABLES.get(number, 0), number


def test_every_operation_that_has_a_section_is_routed() -> None:
    """The heading of a section of chapter 4 names its operation."""
    headings = re.findall(r"^## 4\.\w+ (\S+) (\S+)$", TEXT, flags=re.MULTILINE)
    assert len(headings) == 18
    routed = {(one.method, re.sub("<(?:path:)?([^>]*)>", "{x}", one.path)) for one in OPERATIONS}
    for method, path in headings:
        assert (method, re.sub("{[^}]*}", "{x}", path.replace("…/", "P/"))) in routed, path


@pytest.mark.parametrize(("number", "sentences", "names"), CONTENTS, ids=[one[0] for one in CONTENTS])
def test_every_sentence_and_every_row_has_its_tests(number: str, sentences: int, names: list[str]) -> None:
    rows = ROWS[number]
    assert len([row for row in rows if not row[0]]) == sentences
    assert [name for row in rows for name in row[0]] == names
    for _, said, tests in rows:
        assert said.endswith(".") and tests
        assert all(re.fullmatch(r"`tests/[\w/]+\.py(::\w+)+`", test) for test in tests), said


def runs(test: ast.FunctionDef) -> bool:
    """Whether nothing keeps ``test`` from running, or from failing."""
    return not re.search(r"\b(skip|skipif|xfail)\b", " ".join(map(ast.unparse, test.decorator_list)))


def declared_in(path: Path) -> set[str]:
    """The tests of a file that run, as pytest names them, read from its source."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and runs(node):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef) and runs(one)}
    return {name for name in found if name.split("::")[-1].startswith("test_")}


@pytest.mark.parametrize("file", sorted({test.partition("::")[0] for test in CITED}))
def test_every_test_that_is_named_exists(file: str) -> None:
    named = {test.partition("::")[2] for test in CITED if test.startswith(f"{file}::")}
    assert named - declared_in(ROOT / file) == set()
