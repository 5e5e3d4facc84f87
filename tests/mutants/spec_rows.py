"""Reads ``tests/SPEC.md``: its sections, their rows, and the tests that each row cites."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "tests" / "SPEC.md").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a section: the names of the specification's rows it stands for, its sentence, its cited tests."""

    section: str
    names: tuple[str, ...]
    sentence: str
    tests: tuple[str, ...]


def cells(block: str) -> Iterator[list[str]]:
    """The rows of the table in ``block``, without its head."""
    lines = [line for line in block.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def sections() -> dict[str, str]:
    """What stands under each heading, by the section's number."""
    parts = re.split(r"^## (\S+).*$", TEXT, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def rows() -> list[Row]:
    """Every row of every section, in their order."""
    return [
        Row(
            number,
            _names(names),
            sentence,
            tuple(test.strip("`") for test in tests.split("<br>")),
        )
        for number, block in sections().items()
        if number != "Contents"
        for names, sentence, tests in cells(block)
    ]


def _names(cell: str) -> tuple[str, ...]:
    return tuple(re.findall("`([^`]+)`", cell))


def find(section: str, row: str) -> Row:
    """The row of ``section`` that has ``row`` among its names, or whose sentence begins with it. Raises LookupError."""
    inside = [entry for entry in rows() if entry.section == section]
    matches = [entry for entry in inside if row in entry.names] or [
        entry for entry in inside if entry.sentence.startswith(row)
    ]
    if len(matches) != 1:
        raise LookupError(f"{len(matches)} rows of section {section} match {row!r}.")
    return matches[0]
