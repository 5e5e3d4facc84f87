"""Present or alone, never both; and whoever dies has left."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from webapp.errors import Conflict, Unavailable
from webapp.store import lock_files
from webapp.store.lock_files import WorkerLock
from webapp.store.sqlite import SQLiteStore

ROOT = Path(__file__).parents[2]
STAY = """
import sys, time
from pathlib import Path
from webapp.store.sqlite import SQLiteStore
store = SQLiteStore(Path(sys.argv[1]))
print("here", flush=True)
time.sleep(60)
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "patchbay.db"


def test_many_may_be_present_and_then_nobody_is_alone(database: Path) -> None:
    refused = pytest.raises(Conflict, match=r"Patchbay is running on .*data; stop it first")
    with closing(SQLiteStore(database)), closing(SQLiteStore(database)), refused, lock_files.exclusive(database):
        pytest.fail("two are present")
    with lock_files.exclusive(database):
        pass


def test_nobody_arrives_while_one_is_alone(database: Path) -> None:
    with lock_files.exclusive(database):
        with pytest.raises(Unavailable, match="being replaced; try again"):
            SQLiteStore(database)
        with closing(SQLiteStore(database, exclusive=True)) as store:
            store.migrate()
    SQLiteStore(database).close()


def test_whoever_is_killed_has_left(database: Path) -> None:
    command = [sys.executable, "-c", STAY, str(database)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        with pytest.raises(Conflict), lock_files.exclusive(database):
            pytest.fail("another process is present")
        process.send_signal(signal.SIGKILL)
    with lock_files.exclusive(database):
        pass


def test_waiting_for_the_others_to_leave(database: Path) -> None:
    store, order = SQLiteStore(database), list[str]()

    def wait() -> None:
        with lock_files.exclusive(database, wait=True):
            order.append("alone")

    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(0.2)
    order.append("left")
    store.close()
    waiting.join(5)
    assert order == ["left", "alone"]


def test_a_database_that_cannot_be_opened_leaves_nobody_behind(database: Path) -> None:
    database.mkdir(parents=True)
    with pytest.raises(Unavailable):
        SQLiteStore(database)
    with lock_files.exclusive(database):
        pass


HOLD = """
import os, sys, time
from pathlib import Path
from webapp.store.lock_files import WorkerLock
lock = WorkerLock(Path(sys.argv[1]))
if sys.argv[2] == "fork" and os.fork():
    os._exit(0)
print("here", flush=True)
time.sleep(float(sys.argv[3]))
"""


def hold(database: Path, how: str, seconds: float) -> subprocess.Popen[str]:
    """A process that holds the worker's lock; with ``fork``, its fork does after the process has ended."""
    command = [sys.executable, "-c", HOLD, str(database), how, str(seconds)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "here\n"
    return process


def test_one_process_holds_the_workers_lock_while_others_share_the_database(database: Path) -> None:
    lock = WorkerLock(database)
    refused = rf"Patchbay already runs on .*data \(process {os.getpid()}\); stop it first, or set PATCHBAY_DATA"
    with closing(SQLiteStore(database)):
        began = time.monotonic()
        with pytest.raises(Conflict, match=refused):
            WorkerLock(database)
        assert time.monotonic() - began < 1.0, "nobody is ending, so nobody is waited for"
    lock.close()
    WorkerLock(database).close()


def test_a_database_on_a_server_needs_no_lock() -> None:
    for lock in (WorkerLock(None), WorkerLock(None)):
        lock.announce_end()
        lock.close()


def test_the_mail_lock_is_acquired_once_and_again_when_released(database: Path) -> None:
    first, second = lock_files.MailLock(database), lock_files.MailLock(database)
    assert first.acquire() and first.acquire() and not second.acquire()
    first.release()
    assert second.acquire() and not first.acquire()
    second.release()


def test_the_lock_of_a_killed_process_is_free_at_once(database: Path) -> None:
    with hold(database, "alone", 60) as process:
        with pytest.raises(Conflict, match=rf"process {process.pid}"):
            WorkerLock(database)
        process.send_signal(signal.SIGKILL)
    WorkerLock(database, patience_s=0).close()


def test_the_lock_is_waited_for_while_its_holder_ends(database: Path) -> None:
    lock = WorkerLock(database)
    lock.announce_end()
    with pytest.raises(Conflict):
        WorkerLock(database, patience_s=0.1)
    timer = threading.Timer(0.3, lock.close)
    timer.start()
    WorkerLock(database).close()
    timer.join()


def test_the_lock_is_waited_for_while_forks_outlive_its_holder(database: Path) -> None:
    began = time.monotonic()
    with hold(database, "fork", 0.5) as process:
        process.wait()
        WorkerLock(database).close()
        assert time.monotonic() - began >= 0.5, "a fork held it until its end"


def test_a_successor_may_wait_for_the_lock_later(database: Path) -> None:
    with hold(database, "fork", 0.5) as process:
        process.wait()
        successor = WorkerLock(database, wait=False)
        assert successor.is_succession
        with lock_files.without_worker(database) as vacant:
            assert not vacant, "a fork of the one before still has it"
        successor.acquire(0.1, stopped=lambda: True)
        with pytest.raises(Conflict):
            successor.acquire(0.1)
        successor.acquire()
    with pytest.raises(Conflict, match=rf"process {os.getpid()}"):
        WorkerLock(database, wait=False)
    successor.close()


def test_the_worker_stays_absent_within_the_block(database: Path) -> None:
    lock = WorkerLock(database)
    with lock_files.without_worker(database) as vacant:
        assert not vacant
    lock.close()
    with lock_files.without_worker(database) as vacant:
        assert vacant
        with lock_files.without_worker(database) as again:
            assert not again


SIGN = """
import sys, time
from pathlib import Path
from webapp.store.lock_files import LifeLock
life = LifeLock(Path(sys.argv[1]), 7)
print("here", flush=True)
time.sleep(60)
"""


def test_a_sign_of_life_ends_with_its_process(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SIGN, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"here\n"
        assert lock_files.is_alive(tmp_path, 7) and not lock_files.is_alive(tmp_path, 8)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not lock_files.is_alive(tmp_path, 7)
    assert list((tmp_path / ".alive").iterdir()) == [], "what the dead one left is removed"


def test_a_sign_is_ended_once(tmp_path: Path) -> None:
    life = lock_files.LifeLock(tmp_path, 1)
    assert lock_files.is_alive(tmp_path, 1)
    life.end()
    life.end()
    assert not lock_files.is_alive(tmp_path, 1)
    lock_files.LifeLock(None, 2).end()
    assert not lock_files.is_alive(tmp_path, 2)
