"""A sign of life that one process leaves for another: the time of a file. It costs no write of the database."""

import time
from contextlib import suppress
from pathlib import Path

WORKER = "worker.seen"  # the file beside the database that the worker touches at every turn of its loop


def beat(file: Path) -> None:
    """Say that this process is alive. A disk that takes nothing now must not end it."""
    with suppress(OSError):
        file.touch()


def age_s(file: Path) -> float | None:
    """Seconds since the last sign; None when there was none."""
    try:
        return max(0.0, time.time() - file.stat().st_mtime)
    except OSError:
        return None
