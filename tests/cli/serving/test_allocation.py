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


HELD_AFTER_LARGE_BLOCKS = """
from pathlib import Path
{first}
def held_kb():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:"))
before = held_kb()
for _ in range(3):
    b"x" * (19 << 20)  # as a password is hashed in
print(held_kb() - before)
"""
HOLD_LITTLE = "from webapp.cli.serving import allocation; allocation.hold_little()"


def printed(program: str, first: str) -> int:
    """The number that ``program`` prints in a fresh process."""
    command = [sys.executable, "-c", program.format(first=first)]
    return int(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)


def test_sixteen_threads_share_two_arenas() -> None:
    if printed(ARENAS_OF_THREADS, "") <= ARENAS:
        pytest.skip("this machine's C library has no arenas for threads")
    assert printed(ARENAS_OF_THREADS, HOLD_LITTLE) <= ARENAS


def test_a_large_block_goes_back_to_the_system() -> None:
    if printed(HELD_AFTER_LARGE_BLOCKS, "") < 10_000:
        pytest.skip("this machine's C library gives back all that is free")
    assert printed(HELD_AFTER_LARGE_BLOCKS, HOLD_LITTLE) < 5_000


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
