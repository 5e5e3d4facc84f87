"""The runs of a trigger as its log lists them: those in a row that looked and found nothing are one line."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from webapp.dashboard.client.models.triggers import TriggerRun

FEWEST = 3


@dataclass(frozen=True, slots=True)
class Quiet:
    """Runs in a row, newest first, that found nothing."""

    runs: tuple[TriggerRun, ...]


def folded(runs: Sequence[TriggerRun]) -> list[TriggerRun | Quiet]:
    """``runs``, newest first, with those in one that are :data:`FEWEST` or more in a row and found nothing."""
    lines: list[TriggerRun | Quiet] = []
    for nothing, group in groupby(runs, _found_nothing):
        in_a_row = tuple(group)
        lines += [Quiet(in_a_row)] if nothing and len(in_a_row) >= FEWEST else in_a_row
    return lines


def _found_nothing(run: TriggerRun) -> bool:
    return run.ok and run.cause == "timer" and not run.emitted
