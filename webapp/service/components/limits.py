"""The limits of one call, and functions that set them on a process. Systems other than Linux lack some of them."""

import os
import resource
import sys
from contextlib import suppress
from functools import cache
from math import ceil
from pathlib import Path

from webapp import body_limits

RUN_S = 30.0  # the deadline of a call that runs a component
CONFIGURE_S = 20.0  # and of one for somebody who configures it, such as a prop's options
REQUEST_S = 20.0  # of one HTTP request of a component, which also ends before its call does
MEMORY_BYTES = 512 * 1024 * 1024
SPARE_BYTES = 64 * 1024 * 1024
OUTPUT_BYTES = 6 * 1024 * 1024
STASH_BYTES = body_limits.FILE
STASH_FILES = 50
EXAMPLES = 5  # things that are there already, which a trigger emits when it is deployed
LOG_LINES = 2_000
LOG_LINE_CHARS = 8_000
LINK_CHARS = 2_000  # of a member of a link in a tool's result
BODY_BYTES = 32 * 1024 * 1024  # of one HTTP request or its answer
FILE_BYTES = 256 * 1024 * 1024
FILES = 256
CALL_MEMORY_BYTES = 1024 * 1024 * 1024  # of all processes of a call together
CALL_FOLDER_BYTES = 512 * 1024 * 1024
USAGE_CHECK_S = 0.5  # how often those two are checked
PROCESSES = 64
CALLS = 128
NODE_PROCESSES = 64  # for pieces, which are kept between calls of one user
NODE_WAIT_S = 25.0  # the longest that a call waits for one of them, in addition to its deadline
NICE = 5
_NO_CORE = 1  # byte, for which Linux writes none and asks no program to take one, as it does for 0 (core(5))


def output_bytes(stash: bool) -> int:
    """How many bytes a call may send and print; with ``stash`` that includes its files as base64."""
    return OUTPUT_BYTES + (STASH_BYTES * 4 // 3 + STASH_FILES * 1024 if stash else 0)


def node_wait_s(deadline_s: float) -> float:
    """How many seconds a call of a piece waits for its process: never longer than it may run."""
    return min(NODE_WAIT_S, deadline_s)


@cache
def own_bytes() -> int:
    """The address space of this process in bytes, as of the first call; children start with as much."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def limit_memory_and_files() -> None:
    """Limit the memory and files of this process; it may take ``MEMORY_BYTES`` more than it has now."""
    has = own_bytes()
    _limit(resource.RLIMIT_AS, has + MEMORY_BYTES, has + MEMORY_BYTES + SPARE_BYTES)
    _limit(resource.RLIMIT_FSIZE, FILE_BYTES, FILE_BYTES)
    _limit(resource.RLIMIT_NOFILE, FILES, FILES)
    _limit(resource.RLIMIT_CORE, _NO_CORE, _NO_CORE)
    os.nice(NICE)


def limit_cpu_time(seconds: float) -> None:
    """Limit the CPU time of this process to ``seconds``."""
    _limit(resource.RLIMIT_CPU, ceil(seconds) + 1, ceil(seconds) + 1)


def limit_node(memory_bytes: int) -> None:
    """Limit the memory and files of this process, which becomes Node; memory that it only reserves does not count."""
    _limit(resource.RLIMIT_DATA, memory_bytes, memory_bytes)
    _limit(resource.RLIMIT_FSIZE, FILE_BYTES, FILE_BYTES)
    _limit(resource.RLIMIT_NOFILE, FILES, FILES)
    _limit(resource.RLIMIT_CORE, _NO_CORE, _NO_CORE)
    os.nice(NICE)


def limit_processes() -> None:
    """Limit the number of processes and threads of this process's user."""
    _limit(resource.RLIMIT_NPROC, PROCESSES, PROCESSES)


def spare_memory() -> None:
    """Let this process use its memory reserve, so that it can report that it ran out of memory."""
    with suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _limit(what: int, soft: int, hard: int) -> None:
    """Set a limit, at most the present one; a limit that the system does not let us set stays as it is."""
    with suppress(ValueError, OSError):
        current = resource.getrlimit(what)[1]
        top = hard if current == resource.RLIM_INFINITY else min(hard, current)
        resource.setrlimit(what, (min(soft, top), top))
