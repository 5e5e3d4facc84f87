"""Small helpers for the components of any app: the usual annotations of an action, counts in words, numbers, times.

``openWorldHint`` is true throughout, because each of these actions talks to a service outside.
"""

import math
from collections.abc import Sized
from typing import Final

from webapp.kit.clock import parse_iso
from webapp.service.components.authoring import ComponentError

Hints = dict[str, bool | str]


def _hints(*, reads: bool, destroys: bool, repeats: bool) -> Hints:
    return {"readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": repeats, "openWorldHint": True}


READS: Final = _hints(reads=True, destroys=False, repeats=True)
"""Changes nothing."""
CREATES: Final = _hints(reads=False, destroys=False, repeats=False)
"""Adds something; running it twice adds it twice."""
SETS: Final = _hints(reads=False, destroys=False, repeats=True)
"""Brings something into a state, and takes nothing away; running it twice is the same as once."""
OVERWRITES: Final = _hints(reads=False, destroys=True, repeats=True)
"""What was there before is replaced or deleted; running it twice is the same as once."""
DELETES: Final = _hints(reads=False, destroys=True, repeats=False)
"""What was there is deleted, or may be, and running it twice may delete something else."""
SPENDS: Final = {**DELETES, "spendsHint": True}
"""Sends or costs something that cannot be taken back, and running it twice does it twice. Nothing is taken away."""


def counted(items: Sized | int, noun: str) -> str:
    """``1 row``, ``2 rows``: how many ``items`` there are; the plural of ``noun`` takes an s."""
    count = items if isinstance(items, int) else len(items)
    return f"{count} {noun}{'' if count == 1 else 's'}"


def number(text: str) -> float | int:
    """The number that ``text`` writes, as JSON can carry it. Raises :class:`ComponentError`."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ComponentError(f"{text} is not a number. Write one such as 12.5.")
    return int(value) if value.is_integer() else value


def epoch_ms(time: str) -> int:
    """An ISO 8601 time with an offset, as providers write it, in epoch milliseconds. Raises ``ValueError``."""
    return parse_iso(time)
