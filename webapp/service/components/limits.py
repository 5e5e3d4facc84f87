"""The limits of one call, and how they are set on a process. Systems other than Linux lack some of them."""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

MEMORY_BYTES = 512 * 1024 * 1024
SPARE_BYTES = 64 * 1024 * 1024
OUTPUT_BYTES = 6 * 1024 * 1024
STASH_BYTES = 10 * 1024 * 1024
STASH_FILES = 50
FILE_BYTES = 256 * 1024 * 1024
FILES = 256
PROCESSES = 4096
CALLS = 128
NICE = 5
_PDEATHSIG, _SUBREAPER = 1, 36  # linux/prctl.h
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def output_bytes(stash: bool) -> int:
    """How many bytes a call may send and print; a call whose files are kept may also send those, as base64."""
    return OUTPUT_BYTES + (STASH_BYTES * 4 // 3 + STASH_FILES * 1024 if stash else 0)


def adopt_orphans() -> None:
    """Become the parent of every process below whose own parent ends, so that none escapes."""
    _prctl(_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process when ``parent`` does."""
    _prctl(_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def bind() -> None:
    """Limit memory, files and processes of this process; ``MEMORY_BYTES`` come on top of what it has already."""
    has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _libc else 0
    _limit(resource.RLIMIT_AS, has + MEMORY_BYTES, has + MEMORY_BYTES + SPARE_BYTES)
    _limit(resource.RLIMIT_FSIZE, FILE_BYTES, FILE_BYTES)
    _limit(resource.RLIMIT_NOFILE, FILES, FILES)
    _limit(resource.RLIMIT_NPROC, PROCESSES, PROCESSES)
    _limit(resource.RLIMIT_CORE, 0, 0)
    os.nice(NICE)


def spare_memory() -> None:
    """Let this process use what was kept back, to say that it ran out of memory."""
    with suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def children() -> list[int]:
    """The processes directly below this one; empty where the kernel does not tell."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


def kill_group(pid: int) -> None:
    """Kill ``pid`` and its process group, which the kernel does in one step: a process that forks cannot outrun it."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _limit(what: int, soft: int, hard: int) -> None:
    """Set a limit, below the one that stands; what the system does not let us set stays."""
    with suppress(ValueError, OSError):
        current = resource.getrlimit(what)[1]
        top = hard if current == resource.RLIM_INFINITY else min(hard, current)
        resource.setrlimit(what, (min(soft, top), top))


def _prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)
