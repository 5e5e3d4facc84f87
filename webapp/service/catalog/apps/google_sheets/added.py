"""Telling which rows were added to a worksheet, from short hashes of its rows before and now.

A row has no id. Rows that were deleted, moved or edited in their place are therefore told from added ones by what
stands around them; a row that is edited while many others move may count as added.
"""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, Final

WIDTH: Final = 6
"""Characters of a hash: 36 bits."""
MOST: Final = 30_000
"""Rows whose hashes are kept, the last ones; a trigger may remember 256 KiB."""
_COMPARED = 2_000


def hashes(rows: Sequence[Sequence[Any]]) -> list[str]:
    """A short hash of each row."""
    return [_hash(row) for row in rows]


def packed(hashed: Sequence[str]) -> str:
    """The hashes to remember, as one text."""
    return "".join(hashed[-MOST:])


def unpacked(text: str) -> list[str]:
    """The inverse of :func:`packed`."""
    return [text[at : at + WIDTH] for at in range(0, len(text), WIDTH)]


def added(before: Sequence[str], now: Sequence[str]) -> list[int]:
    """Where in ``now`` the rows stand that were added since ``before``, in order.

    Of a longer worksheet, ``before`` and ``now`` are the last :data:`MOST` rows: what stands above the first known
    row has only moved down from above.
    """
    positions = _between(before, now)
    if len(before) < MOST:
        return positions
    known = set(before)
    first = next((at for at, row in enumerate(now) if row in known), 0)
    return [at for at in positions if at > first]


def _between(before: Sequence[str], now: Sequence[str]) -> list[int]:
    start = 0
    while start < min(len(before), len(now)) and before[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(before), len(now)) - start and before[-1 - end] == now[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], now[start : len(now) - end]
    return [start + at for at in _added(old, new)]


def _added(old: Sequence[str], new: Sequence[str]) -> list[int]:
    unknown = _unknown(old, new)
    if not old or not unknown or max(len(old), len(new)) > _COMPARED:
        return unknown
    positions: list[int] = []
    for tag, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new, False).get_opcodes():
        if tag in ("insert", "replace"):
            here = [at for at in unknown if new_start <= at < new_end]
            edited = min(len(here), old_end - old_start)
            positions += here[edited:]
    return positions


def _unknown(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Where ``new`` has something that ``old`` has not, or not as often."""
    left = Counter(old)
    positions = []
    for at, row in enumerate(new):
        if left[row]:
            left[row] -= 1
        else:
            positions.append(at)
    return positions


def _hash(row: Sequence[Any]) -> str:
    digest = hashlib.sha256(json.dumps(row, ensure_ascii=False).encode()).digest()
    return urlsafe_b64encode(digest[:6])[:WIDTH].decode()
