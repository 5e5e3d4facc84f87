"""One child process: it says when it is ready, and ends by either signal.

How a process learns that it should end: what was left with it is called once the end comes, or at once.

Work in a process of its own: its answer comes back, its refusal is one sentence, and its death is noticed.

Memory is taken from few arenas, however many threads there are; garbage is looked for rarely.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from webapp.cli.serving.process import ARENAS, LEAVE, YOUNG, Child, Stop, WorkFailed, start_work
from webapp.errors import Invalid

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
HOLD_LITTLE = "from webapp.cli.serving import process; process.limit_spare_memory()"


def work(stop: Stop) -> None:
    stop.report_ready()
    stop.wait()
    os._exit(7 if stop.replaced else 3)


@pytest.fixture
def lifeline() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 3), (LEAVE, 7)], ids=["ended", "replaced"])
def test_it_says_when_it_is_ready_and_how_it_was_told_to_end(
    lifeline: tuple[int, int], number: signal.Signals, code: int
) -> None:
    child = Child("one", work, answers=True)
    assert not child.is_ready(), "it was not forked"
    child.fork(lifeline[0], (lifeline[1],), lambda name: None, 0.0)
    ends = time.monotonic() + 5
    while not child.is_ready() and time.monotonic() < ends:
        time.sleep(0.005)
    assert child.is_ready() and child.is_ready()
    os.kill(child.pid, number)
    assert os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1]) == code
    child.is_gone()
    assert not child.is_ready()
    assert (child.fresh().name, child.fresh().answers, child.fresh().pid) == ("one", True, 0)


@pytest.fixture
def stop() -> Iterator[Stop]:
    before = signal.getsignal(signal.SIGUSR1)
    yield Stop().on(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def test_a_signal_sets_it_and_calls_what_was_left(stop: Stop) -> None:
    calls: list[str] = []
    stop.then(lambda: calls.append("first"))
    stop.then(lambda: calls.append("second"))
    assert (stop.is_set(), calls) == (False, [])
    os.kill(os.getpid(), signal.SIGUSR1)
    assert (stop.wait(1), calls) == (True, ["first", "second"])


def test_a_process_that_drains_says_so_first_and_a_second_signal_ends_that() -> None:
    draining = Stop(drain_s=60)
    before = signal.getsignal(signal.SIGALRM)
    try:
        draining._handle(signal.SIGTERM, None)
        assert (draining.is_set(), draining.closing, draining.stopping) == (False, True, True)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
        draining._handle(signal.SIGTERM, None)
        assert draining.is_set()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_process_that_was_replaced_closes_at_once_while_the_service_continues() -> None:
    replaced = Stop(drain_s=60)
    replaced._handle(LEAVE, None)
    assert (replaced.is_set(), replaced.closing, replaced.replaced, replaced.stopping) == (True, True, True, False)


def test_what_is_left_after_the_end_is_called_at_once(stop: Stop) -> None:
    calls: list[str] = []
    stop.set()
    stop.then(lambda: calls.append("late"))
    assert calls == ["late"]
    assert stop.lifeline is None


def test_the_answer_comes_from_another_process() -> None:
    answer = start_work(lambda: {"pid": os.getpid(), "text": "ü"}).result()
    assert answer["pid"] != os.getpid()
    assert answer["text"] == "ü"


def test_a_refusal_is_its_sentence() -> None:
    def refuse() -> dict[str, object]:
        raise Invalid("There is no key.")

    with pytest.raises(WorkFailed, match=r"^There is no key\.$"):
        start_work(refuse).result()


def test_a_child_that_dies_is_noticed() -> None:
    with pytest.raises(WorkFailed, match="could not start"):
        start_work(lambda: os._exit(1)).result()


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
from webapp.cli.serving import process
process.collect_garbage_rarely()
kept = [[] for _ in range(1_000)]
before = gc.get_freeze_count()
process.freeze_garbage()
print(gc.get_threshold()[0], gc.get_freeze_count() - before >= 1_000)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60, text=True)
    assert done.stdout.split() == [str(YOUNG), "True"]
