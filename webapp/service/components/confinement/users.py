"""A user id of its own for each call if the runner is root, so that the kernel separates calls from each other."""

import os
from pathlib import Path

from webapp.service.components import limits
from webapp.service.components.confinement import kernel

_FIRST = (1_879_048_192, 64_000)
"""Numbers that no distribution gives to anybody: above all that containers get, or where those are missing, below."""


def first() -> int | None:
    """The first user id for calls; None if this process is not root, or its user namespace maps no range for them."""
    if os.geteuid() != 0:
        return None
    try:
        lines = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except (OSError, ValueError):
        return None
    return next((number for number in _FIRST if any(_holds(number, *line) for line in lines)), None)


def _holds(number: int, inside: int, _: int, count: int) -> bool:
    return inside <= number and number + limits.CALLS + limits.NODE_PROCESSES <= inside + count


def become(number: int, *, reads_all: bool, programs: bool = False) -> None:
    """Become the user ``number`` for good, without capabilities.

    With ``reads_all``, it keeps the capability to read all files, for use where Landlock restricts which; with
    ``programs``, programs started from here have it too. Raises ``OSError``.
    """
    kernel.keep_capabilities()
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
    kernel.keep_only(kernel.DAC_READ_SEARCH if reads_all else None, programs=programs)


def readable_by_all(path: Path) -> bool:
    """Whether all users may read the file at ``path``."""
    return bool(path.stat().st_mode & 0o004) and all(folder.stat().st_mode & 0o001 for folder in path.parents)
