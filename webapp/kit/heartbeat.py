"""A heartbeat from one process to another: the modification time of a file, which needs no write to the database."""

import time
from contextlib import suppress
from pathlib import Path

WORKER = "worker.seen"  # the file in the data folder that the worker touches in every turn of its loop


def beat(file: Path) -> None:
    """Touch ``file``. Errors are ignored, so that a full disk does not end the process."""
    with suppress(OSError):
        file.touch()


def age_s(file: Path) -> float | None:
    """The seconds since the last :func:`beat`, or None if there was none."""
    try:
        return max(0.0, time.time() - file.stat().st_mtime)
    except OSError:
        return None
