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
from webapp.store import presence
from webapp.store.presence import WorkersPlace
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
    with closing(SQLiteStore(database)), closing(SQLiteStore(database)), refused, presence.alone(database):
        pytest.fail("two are present")
    with presence.alone(database):
        pass


def test_nobody_arrives_while_one_is_alone(database: Path) -> None:
    with presence.alone(database):
        with pytest.raises(Unavailable, match="being replaced; try again"):
            SQLiteStore(database)
        with closing(SQLiteStore(database, alone=True)) as store:
            store.migrate()
    SQLiteStore(database).close()


def test_whoever_is_killed_has_left(database: Path) -> None:
    command = [sys.executable, "-c", STAY, str(database)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        with pytest.raises(Conflict), presence.alone(database):
            pytest.fail("another process is present")
        process.send_signal(signal.SIGKILL)
    with presence.alone(database):
        pass


def test_waiting_for_the_others_to_leave(database: Path) -> None:
    store, order = SQLiteStore(database), list[str]()

    def wait() -> None:
        with presence.alone(database, wait=True):
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
    with presence.alone(database):
        pass


HOLD = """
import os, sys, time
from pathlib import Path
from webapp.store.presence import WorkersPlace
place = WorkersPlace(Path(sys.argv[1]))
if sys.argv[2] == "fork" and os.fork():
    os._exit(0)
print("here", flush=True)
time.sleep(float(sys.argv[3]))
"""


def hold(database: Path, how: str, seconds: float) -> subprocess.Popen[str]:
    """A process that holds the worker's place; with ``fork`` the process that took it is dead, and a fork lives on."""
    command = [sys.executable, "-c", HOLD, str(database), how, str(seconds)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "here\n"
    return process


def test_the_workers_place_is_held_by_one_beside_others_who_are_present(database: Path) -> None:
    place = WorkersPlace(database)
    refused = rf"Patchbay already runs on .*data \(process {os.getpid()}\); stop it first, or set PATCHBAY_DATA"
    with closing(SQLiteStore(database)):
        began = time.monotonic()
        with pytest.raises(Conflict, match=refused):
            WorkersPlace(database)
        assert time.monotonic() - began < 1.0, "nobody is ending, so nobody is waited for"
    place.leave()
    WorkersPlace(database).leave()


def test_a_database_elsewhere_has_places_for_all() -> None:
    for place in (WorkersPlace(None), WorkersPlace(None)):
        place.end()
        place.leave()


def test_the_place_of_mail_is_taken_once_and_again_when_it_was_left(database: Path) -> None:
    first, second = presence.MailPlace(database), presence.MailPlace(database)
    assert first.take() and first.take() and not second.take()
    first.leave()
    assert second.take() and not first.take()
    second.leave()


def test_the_place_of_one_who_was_killed_is_free_at_once(database: Path) -> None:
    with hold(database, "alone", 60) as process:
        with pytest.raises(Conflict, match=rf"process {process.pid}"):
            WorkersPlace(database)
        process.send_signal(signal.SIGKILL)
    WorkersPlace(database, patience_s=0).leave()


def test_the_place_is_waited_for_while_its_holder_ends(database: Path) -> None:
    place = WorkersPlace(database)
    place.end()
    with pytest.raises(Conflict):
        WorkersPlace(database, patience_s=0.1)
    timer = threading.Timer(0.3, place.leave)
    timer.start()
    WorkersPlace(database).leave()
    timer.join()


def test_the_place_is_waited_for_while_forks_outlive_who_took_it(database: Path) -> None:
    began = time.monotonic()
    with hold(database, "fork", 0.5) as process:
        process.wait()
        WorkersPlace(database).leave()
        assert time.monotonic() - began >= 0.5, "a fork held it until its end"


def test_a_vacant_place_is_kept_for_the_while(database: Path) -> None:
    place = WorkersPlace(database)
    with presence.vacant_place(database) as vacant:
        assert not vacant
    place.leave()
    with presence.vacant_place(database) as vacant:
        assert vacant
        with presence.vacant_place(database) as again:
            assert not again


SIGN = """
import sys, time
from pathlib import Path
from webapp.store.presence import SignOfLife
sign = SignOfLife(Path(sys.argv[1]), 7)
print("here", flush=True)
time.sleep(60)
"""


def test_a_sign_of_life_ends_with_its_process(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SIGN, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"here\n"
        assert presence.lives(tmp_path, 7) and not presence.lives(tmp_path, 8)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not presence.lives(tmp_path, 7)
    assert list((tmp_path / ".alive").iterdir()) == [], "what the dead one left is removed"


def test_a_sign_is_ended_once(tmp_path: Path) -> None:
    sign = presence.SignOfLife(tmp_path, 1)
    assert presence.lives(tmp_path, 1)
    sign.end()
    sign.end()
    assert not presence.lives(tmp_path, 1)
    presence.SignOfLife(None, 2).end()
    assert not presence.lives(tmp_path, 2)
