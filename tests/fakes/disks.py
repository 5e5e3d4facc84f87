"""File systems so small that they can be filled."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[Path]:
    """A file system of ``kib`` KiB, mounted at the new ``folder``; the test is skipped where none may be mounted."""
    folder.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(options, capture_output=True).returncode:
        pytest.skip("a small file system can be mounted by root alone")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_up(folder: Path, left: int) -> Path:
    """Fill the file system of ``folder`` until ``left`` bytes are free, or none, if others write meanwhile; the file
    that takes the room."""
    ballast, system = folder / "ballast", os.statvfs(folder)
    with suppress(OSError):
        ballast.write_bytes(bytes(max(0, system.f_bavail * system.f_frsize - left)))
    return ballast
