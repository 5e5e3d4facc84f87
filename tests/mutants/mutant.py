"""One mutant: a row of ``tests/SPEC.md``, and a change of the product that makes its sentence false.

The mutants stand in ``*.toml`` beside this file, a file for each chapter of the specification.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.mutants import spec_rows
from tests.mutants.spec_rows import ROOT, Row

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Mutant:
    """``find`` stands exactly once in ``file`` (a path from the project's root) and is replaced by ``replace``."""

    section: str
    row: str
    file: str
    find: str
    replace: str

    @property
    def cites(self) -> Row:
        """The row whose sentence this mutant makes false. Raises LookupError when there is none, or more than one."""
        return spec_rows.find(self.section, self.row)

    def mutated(self, source: str) -> str:
        """``source`` with the mutation. Raises ValueError unless ``find`` stands in it exactly once."""
        if source.count(self.find) != 1:
            raise ValueError(f"{self.file} has {source.count(self.find)} places that match the mutant of {self.row}.")
        return source.replace(self.find, self.replace)


def every() -> list[Mutant]:
    """All mutants, by file and in the order in which they stand there."""
    return [
        Mutant(**entry)
        for file in sorted(FOLDER.glob("*.toml"))
        for entry in tomllib.loads(file.read_text("utf-8"))["mutant"]
    ]


def source_of(mutant: Mutant, root: Path = ROOT) -> str:
    """The file that ``mutant`` changes, as it stands."""
    return (root / mutant.file).read_text("utf-8")
