"""Memory is taken from few arenas, however many threads there are; garbage is looked for rarely."""

import subprocess
import sys

import pytest

from webapp.cli.serving.allocation import ARENAS, YOUNG

# Every thread keeps a block too large for Python's own allocator; a further arena begins at a multiple of 64 MiB.
ARENAS_OF_THREADS = """
import re, threading
from pathlib import Path
{first}
kept, everybody = [], threading.Barrier(16)
def allocate():
    everybody.wait()
    kept.append([bytes(20_000) for _ in range(10)])
threads = [threading.Thread(target=allocate) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
starts = re.findall(r"^([0-9a-f]+)-[0-9a-f]+ rw-p 0+ 00:00 0 *$", Path("/proc/self/maps").read_text(), re.M)
print(1 + sum(int(start, 16) % (64 << 20) == 0 for start in starts))
"""


def arenas(first: str) -> int:
    """How many arenas a fresh process has after sixteen threads allocated."""
    program = ARENAS_OF_THREADS.format(first=first)
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60).stdout)


def test_sixteen_threads_share_two_arenas() -> None:
    if arenas("") <= ARENAS:
        pytest.skip("this machine's C library has no arenas for threads")
    assert arenas("from webapp.cli.serving import allocation; allocation.limit_arenas()") <= ARENAS


def test_garbage_is_looked_for_rarely_and_never_in_what_stays() -> None:
    program = """
import gc
from webapp.cli.serving import allocation
allocation.collect_rarely()
kept = [[] for _ in range(1_000)]
before = gc.get_freeze_count()
allocation.settle()
print(gc.get_threshold()[0], gc.get_freeze_count() - before >= 1_000)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60, text=True)
    assert done.stdout.split() == [str(YOUNG), "True"]
