"""How the processes of a call belong together, and end together: parents, orphans and groups.

Systems other than Linux let an orphan escape, and do not end a process with its parent.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

_PDEATHSIG, _SUBREAPER = 1, 36  # linux/prctl.h
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def adopt_orphans(*, yes: bool = True) -> None:
    """Become the parent of orphaned descendants, so that none escapes (prctl(2), PR_SET_CHILD_SUBREAPER), or stop
    it."""
    _prctl(_SUBREAPER, int(yes))


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process when ``parent`` does."""
    _prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def children() -> list[int]:
    """The pids of this process's children; empty if the kernel does not list them."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


def kill_group(pid: int) -> None:
    """Kill ``pid`` and its process group; the kernel does so in one step, so a process cannot escape by forking."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)
