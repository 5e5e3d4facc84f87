"""The mutants are in order: each belongs to a row that exists and changes a place that exists.

Whether the cited tests notice them is shown by ``make mutants``, which runs by hand.
"""

import ast
from pathlib import Path

import pytest

from tests.mutants.mutant import Mutant, every, source_of

ALL = every()


@pytest.mark.parametrize("mutant", ALL, ids=[f"{mutant.section} {mutant.row}"[:60] for mutant in ALL])
def test_a_mutant_changes_one_place_and_leaves_a_program(mutant: Mutant) -> None:
    assert mutant.cites.tests
    assert mutant.file.startswith(("webapp/", "templates/"))
    changed = mutant.mutated(source_of(mutant))
    if mutant.file.endswith(".py"):
        ast.parse(changed)


def test_a_place_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 places"):
        Mutant("1", "x", "webapp/app.py", "no such text", "").mutated("text")
