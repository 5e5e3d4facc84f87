"""References in the code lead into the manual: ``contract "Lists"`` names a heading of a page, and every other kind of
reference, which would lead out of the project, is gone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.manual.documents import ROOT, text_of
from webapp.manual.markdown import render
from webapp.manual.pages import NAMES

KINDS = {".py", ".html", ".css", ".js", ".toml", ".md", ".sql"}
REFERENCE = re.compile(rf'\b({"|".join(NAMES)}) ("[A-Z][^"\n]+"(?:, "[A-Z][^"\n]+")*)', re.IGNORECASE)
OUTSIDE = re.compile(r"\b(?:WIRE|EXPERIENCE|QUALITY|FOUND|DESIGN)\b|\b[Ss]pecification(?:'s)?(?: sections?)? \d")
ABOUT_THE_SPECIFICATION = {
    "tests/SPEC.md",
    "tests/mutants",
    "tests/test_spec_table.py",
    "tests/manual/test_references.py",
}


def files() -> Iterator[Path]:
    for place in ("webapp", "templates", "static", "tests"):
        for file in sorted((ROOT / place).rglob("*")):
            name = str(file.relative_to(ROOT))
            inside = "vendor" not in file.parts and "__pycache__" not in file.parts
            if file.suffix in KINDS and inside and not name.startswith(tuple(ABOUT_THE_SPECIFICATION)):
                yield file
    yield from (ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / ".github" / "CONTRIBUTING.md")


@pytest.fixture(scope="module")
def headings() -> dict[str, set[str]]:
    return {name: {section.heading for section in render(text_of(name), {}).sections} for name in NAMES}


def test_every_reference_names_a_heading_of_the_manual(headings: dict[str, set[str]]) -> None:
    wrong, count = [], 0
    for file in files():
        for page, named in REFERENCE.findall(file.read_text("utf-8")):
            for heading in re.findall(r'"([^"]+)"', named):
                count += 1
                if heading not in headings[page.lower()]:
                    wrong.append(f'{file.relative_to(ROOT)}: {page} "{heading}"')
    assert wrong == []
    assert count > 100


def test_no_reference_leads_out_of_the_project() -> None:
    assert [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in files()
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if OUTSIDE.search(line)
    ] == []
