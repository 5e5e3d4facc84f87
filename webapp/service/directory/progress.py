"""How far the bringing of the public directory is: its steps in their order, and what each counts."""

from collections.abc import Callable, Mapping
from typing import Literal

Step = Literal["looking", "downloading", "indexing"]
Progress = Callable[[Step, int], None]
"""Called with the step and what is done of it: nothing, bytes, or documents."""
EXPECTED: Mapping[Step, int] = {"looking": 0, "downloading": 45_000_000, "indexing": 2_640}
"""What each step comes to for the version that is known, nearly; nobody says it beforehand."""


def unseen(step: Step, done: int) -> None:
    """Nobody looks."""
