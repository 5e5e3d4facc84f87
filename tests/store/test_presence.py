"""Present or alone, never both; and whoever dies has left."""

import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from webapp.errors import Conflict, Unavailable
from webapp.store import presence
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
