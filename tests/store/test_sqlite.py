"""The embedded store under several processes, sudden death, a full disk and a lock that is not given back; its errors,
and whole copies of it.
"""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.disks import small_disk
from webapp.errors import Conflict, Damaged, Invalid, Unavailable, Unwritable
from webapp.store import lock_files, sqlite
from webapp.store.sqlite import SQLiteStore, WriteHealth, connect, translated, translation

ROOT = Path(__file__).parent.parent.parent
ADD = "INSERT INTO counters (name, n) VALUES (:name, :n)"
PREAMBLE = """
import sys
from pathlib import Path
from webapp.errors import Unavailable
from webapp.store.sqlite import SQLiteStore
store = SQLiteStore(Path(sys.argv[1]))
"""
COUNT_UP = """
for _ in range(int(sys.argv[2])):
    with store.write() as tx:
        n = tx.one("SELECT n FROM counters WHERE name = 'c'")["n"]
        tx.run("UPDATE counters SET n = :n WHERE name = 'c'", {"n": n + 1})
store.close()
"""
WRITE_FOREVER = """
n = 0
while True:
    with store.write() as tx:
        tx.run("INSERT INTO counters (name, n) VALUES (:a, :n)", {"a": f"{sys.argv[2]}a{n}", "n": n})
        tx.run("INSERT INTO counters (name, n) VALUES (:b, :n)", {"b": f"{sys.argv[2]}b{n}", "n": n})
    print(n, flush=True)
    n += 1
"""
HOLD_THE_LOCK = """
import time
with store.write() as tx:
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
store.close()
"""
OPEN_AND_MIGRATE = """
store.migrate()
store.close()
"""


def start(program: str, *args: object, preamble: str = PREAMBLE) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", preamble + program, *map(str, args)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    with process:
        _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def integrity(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def names(store: SQLiteStore) -> set[str]:
    return {row["name"] for row in store.all("SELECT name FROM counters")}


def test_what_is_overwritten_leaves_no_copy_in_the_file(store: SQLiteStore, data: Path) -> None:
    assert store.one("PRAGMA secure_delete") == {"secure_delete": 1}
    with store.write() as tx:
        tx.run(ADD, {"name": "canary-" + "x" * 9_000, "n": 1})
    with store.write() as tx:
        tx.run("UPDATE counters SET name = 'short' WHERE name LIKE 'canary%'")
    store.checkpoint()
    assert not [file for file in data.glob("*.db*") if b"canary-" in file.read_bytes()]


def test_four_processes_read_then_write_at_once_and_none_fails(store: SQLiteStore, data: Path) -> None:
    with store.write() as tx:
        tx.run(ADD, {"name": "c", "n": 0})
    found = [finish(process) for process in [start(COUNT_UP, data / "patchbay.db", 150) for _ in range(4)]]
    assert found == [(0, "")] * 4
    assert store.one("SELECT n FROM counters") == {"n": 600}


def test_four_processes_may_open_and_migrate_a_new_database_at_once(data: Path) -> None:
    path = data / "patchbay.db"
    found = [finish(process) for process in [start(OPEN_AND_MIGRATE, path) for _ in range(4)]]
    assert found == [(0, "")] * 4
    assert integrity(path) == "ok"


def test_what_was_acknowledged_survives_kill_9(store: SQLiteStore, data: Path) -> None:
    for round_ in range(3):
        with start(WRITE_FOREVER, data / "patchbay.db", f"r{round_}") as process:
            assert process.stdout is not None
            while int(process.stdout.readline()) < 20 + 7 * round_:
                pass
            process.send_signal(signal.SIGKILL)
            acknowledged = 20 + 7 * round_ + len(process.stdout.readlines())
            _, errors = process.communicate(timeout=10)
            assert errors == ""
        there = names(store)
        firsts = {int(name[3:]) for name in there if name.startswith(f"r{round_}a")}
        seconds = {int(name[3:]) for name in there if name.startswith(f"r{round_}b")}
        assert set(range(acknowledged + 1)) <= firsts
        assert firsts == seconds, "half a transaction is there"
        assert integrity(data / "patchbay.db") == "ok"


def test_the_file_is_open_as_promised_and_waits_for_the_lock_by_itself(store: SQLiteStore, data: Path) -> None:
    with store.write() as tx:
        pragmas = {
            name: next(iter((tx.one(f"PRAGMA {name}") or {}).values()))
            for name in ("journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint", "busy_timeout")
        }
    assert pragmas == {
        "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "wal_autocheckpoint": 0, "busy_timeout": 0,
    }  # fmt: skip


def test_writing_never_checkpoints_and_a_checkpoint_empties_the_log(store: SQLiteStore, data: Path) -> None:
    log = data / "patchbay.db-wal"
    for n in range(1_200):
        with store.write() as tx:
            tx.run("UPDATE counters SET n = :n", {"n": n}) or tx.run(ADD, {"name": "c", "n": n})
    assert log.stat().st_size > 1_000 * 4_096, "1,000 pages are where an automatic checkpoint would have come"
    store.checkpoint()
    assert log.stat().st_size == 0


def test_a_reader_keeps_the_log_and_nobody_waits_for_it(store: SQLiteStore, data: Path) -> None:
    with closing(sqlite3.connect(data / "patchbay.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM counters").fetchall()
        with store.write() as tx:
            tx.run(ADD, {"name": "c", "n": 1})
        began = time.monotonic()
        assert not store.checkpoint()
        assert time.monotonic() - began < 1.0
        assert store.sizes().log == (data / "patchbay.db-wal").stat().st_size > 0
    assert store.checkpoint() and store.sizes().log == 0
    assert store.sizes().database == (data / "patchbay.db").stat().st_size
    assert (store.sizes().free or 0) > 0


def test_the_larger_the_log_the_fewer_transactions(
    store: SQLiteStore, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = lock_files.WorkerLock(data / "patchbay.db")
    monkeypatch.setattr(sqlite, "LARGE_LOG", 100)
    assert store.checkpoint() and store._pause_s() == 0.0
    with store.write() as tx:
        tx.run(ADD, {"name": "c", "n": 1})
    monkeypatch.setattr(sqlite, "HUGE_LOG", 2 * store.sizes().log - 100)
    assert store._pause_s() == pytest.approx(sqlite.LONGEST_PAUSE_S / 4)
    monkeypatch.setattr(sqlite, "HUGE_LOG", 101)
    assert store._pause_s() == sqlite.LONGEST_PAUSE_S
    lock.close()
    assert store._pause_s() == 0.0 and store.sizes().log == 0, "without a worker, whoever writes folds it"


def test_a_lock_that_is_held_too_long_is_unavailable_and_passes(store: SQLiteStore, data: Path) -> None:
    path = data / "patchbay.db"
    with closing(SQLiteStore(path, busy_timeout_s=0.3)) as impatient, start(HOLD_THE_LOCK, path, 1.2) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        began = time.monotonic()
        with pytest.raises(Unavailable), impatient.write():
            pytest.fail("the lock is another's")
        assert 0.25 < time.monotonic() - began < 1
        assert impatient.all("SELECT * FROM counters") == [], "reading goes on"
        assert holder.wait(10) == 0
        with impatient.write() as tx:
            tx.run(ADD, {"name": "after", "n": 1})
    assert names(store) == {"after"}


@pytest.mark.faults
def test_a_lock_held_for_30_s_is_unavailable_after_10_and_passes(store: SQLiteStore, data: Path) -> None:
    with start(HOLD_THE_LOCK, data / "patchbay.db", 30) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        began = time.monotonic()
        with pytest.raises(Unavailable), store.write():
            pytest.fail("the lock is another's")
        assert sqlite.BUSY_TIMEOUT_S - 1 < time.monotonic() - began < sqlite.BUSY_TIMEOUT_S + 2
        assert holder.wait(40) == 0
    with store.write() as tx:
        tx.run(ADD, {"name": "after", "n": 1})
    assert names(store) == {"after"}


def test_a_thread_that_waits_too_long_for_another_is_unavailable(data: Path) -> None:
    with closing(SQLiteStore(data / "patchbay.db", busy_timeout_s=0.2)) as store:
        store.migrate()
        held, release = threading.Event(), threading.Event()

        def hold() -> None:
            with store.write():
                held.set()
                release.wait(5)

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait(5)
        with pytest.raises(Unavailable), store.write():
            pytest.fail("the lock is another's")
        release.set()
        holder.join()
        with store.write() as tx:
            tx.run(ADD, {"name": "after", "n": 1})


def fill(store: SQLiteStore) -> int:
    """Write pairs until the disk is full; the number of pairs that were accepted."""
    for n in range(10_000):
        try:
            with store.write() as tx:
                tx.run(ADD, {"name": f"a{n}" + "x" * 2_000, "n": n})
                tx.run(ADD, {"name": f"b{n}" + "x" * 2_000, "n": n})
        except Unavailable:
            return n
    raise AssertionError("the disk never filled")


def test_a_full_disk_is_unavailable_keeps_all_that_was_accepted_and_recovers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "webapp.store")
    with small_disk(tmp_path / "disk", 1_900) as disk, closing(SQLiteStore(disk / "patchbay.db")) as store:
        store.migrate()
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(200 * 1024))
        accepted = fill(store)
        assert accepted > 3
        assert store.one("SELECT COUNT(*) AS n FROM counters") == {"n": 2 * accepted}, "half a pair is there"
        with pytest.raises(Unavailable), store.write() as tx:
            tx.run(ADD, {"name": "still full" + "x" * 60_000, "n": 1})
        with pytest.raises(Unwritable, match="because the disk is full"):
            store.check_writable()
        (line,) = caplog.records
        assert (line.levelname, f"written in {disk}: the disk is full." in line.getMessage()) == ("ERROR", True)
        ballast.unlink()
        store.check_writable()
        assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
        assert f"{disk} can be written again" in caplog.text
        with store.write() as tx:
            tx.run(ADD, {"name": "after", "n": 1})
        assert store.one("SELECT n FROM counters WHERE name = 'after'") == {"n": 1}
        assert integrity(disk / "patchbay.db") == "ok"


LIMITED = (
    """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_200_000, resource.RLIM_INFINITY))
"""
    + PREAMBLE
    + """
accepted = 0
try:
    while True:
        with store.write() as tx:
            for kind in "ab":
                name = f"{kind}{accepted}" + "x" * 2_000
                tx.run("INSERT INTO counters (name, n) VALUES (:name, 1)", {"name": name})
        accepted += 1
except Unavailable:
    pass
assert store.one("SELECT COUNT(*) AS n FROM counters")["n"] == 2 * accepted
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with store.write() as tx:
    tx.run("INSERT INTO counters (name, n) VALUES ('after', 1)")
store.close()
print(accepted)
"""
)


def test_a_file_that_may_not_grow_is_unavailable_and_recovers(store: SQLiteStore, data: Path) -> None:
    """The same without root: the limit of a file's size, whose excess fails in the middle of a write."""
    with start("", data / "patchbay.db", preamble=LIMITED) as process:
        output, errors = process.communicate(timeout=30)
    assert process.returncode == 0 and len(errors.splitlines()) == 2, errors
    assert int(output) > 3
    assert len(names(store)) == 2 * int(output) + 1
    assert integrity(data / "patchbay.db") == "ok"


def test_a_folder_that_cannot_be_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(Unavailable):
        SQLiteStore(tmp_path / "folder.db")


def test_the_faults_of_a_file_are_reported(store: SQLiteStore, data: Path) -> None:
    assert store.faults() == []
    store.checkpoint()
    with closing(SQLiteStore(damaged(data / "patchbay.db", 3))) as broken:
        try:
            faults = broken.faults()
        except Damaged:
            return
    assert faults


def damaged(path: Path, page: int) -> Path:
    """A copy of ``path`` with a page of noise."""
    copy = path.with_name("damaged.db")
    content = bytearray(path.read_bytes())
    content[page * 4096 : (page + 1) * 4096] = b"\x55" * 4096
    copy.write_bytes(content)
    return copy


def test_what_is_no_database_is_damaged(data: Path) -> None:
    (data / "patchbay.db").write_bytes(b"no database" * 1_000)
    with pytest.raises(Damaged, match="patchbay restore"):
        SQLiteStore(data / "patchbay.db")


def test_closing_leaves_no_connection_open(data: Path) -> None:
    store = SQLiteStore(data / "patchbay.db")
    store.migrate()
    threads = [threading.Thread(target=store.all, args=("SELECT * FROM counters",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    assert not [link for link in Path("/proc/self/fd").iterdir() if str(data) in os.path.realpath(link)]


def test_the_database_is_its_owners_only(store: SQLiteStore, data: Path) -> None:
    with store.write() as tx:
        tx.run(ADD, {"name": "c", "n": 1})
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in data.glob("patchbay.db*")} == {
        "patchbay.db": "0o600", "patchbay.db-wal": "0o600", "patchbay.db-shm": "0o600",
    }  # fmt: skip


def test_a_connection_is_open_as_promised(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "t.db", 0.5).db) as db:
        names = ("journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint", "busy_timeout")
        assert [db.execute(f"PRAGMA {name}").fetchone()[0] for name in names] == ["wal", 2, 1, 0, 500]


def test_rows_and_counts(tmp_path: Path) -> None:
    connection = connect(tmp_path / "t.db", 0.5)
    with closing(connection.db):
        connection.run("CREATE TABLE t (n INTEGER UNIQUE)")
        assert connection.run("INSERT INTO t (n) VALUES (:n)", {"n": 1}) == 1
        assert connection.all("SELECT n FROM t") == [{"n": 1}] == [connection.one("SELECT n FROM t")]
        assert connection.tuples("SELECT n FROM t") == [(1,)]
        assert connection.one("SELECT n FROM t WHERE n = 2") is None


def _fill_and_forget(path: Path) -> int:
    """A store that held 24 MB and forgot them; the size of its file."""
    with closing(SQLiteStore(path)) as store:
        store.migrate()
        with store.write() as tx:
            tx.run("CREATE TABLE blobs (body BLOB)")
            for _ in range(24):
                tx.run("INSERT INTO blobs VALUES (zeroblob(1000000))")
        with store.write() as tx:
            tx.run("DELETE FROM blobs")
        store.checkpoint()
        return store.sizes().database


def test_room_that_is_free_goes_back_to_the_disk_piece_by_piece(tmp_path: Path) -> None:
    before = _fill_and_forget(tmp_path / "patchbay.db")
    assert before > 24_000_000
    with closing(SQLiteStore(tmp_path / "patchbay.db")) as store:
        assert store.shrinks()
        pieces = sum(1 for _ in iter(store.shrink, False))
        store.checkpoint()
        assert pieces == 1, "most of what is little stays for what is written next"
        assert before - store.sizes().database >= sqlite.PAGES_AT_ONCE * 4096
        assert store.faults() == []


def test_a_file_of_an_earlier_version_gives_room_back_once_it_was_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "patchbay.db"
    with monkeypatch.context() as earlier:
        earlier.setattr(sqlite, "SHRINKING", "auto_vacuum=0")
        before = _fill_and_forget(path)
    with closing(SQLiteStore(path)) as store:
        assert not store.shrinks() and not store.shrink()
    with lock_files.exclusive(path), closing(SQLiteStore(path, exclusive=True)) as store:
        store.compact()
        assert store.shrinks() and before - store.sizes().database > 24_000_000
        assert store.faults() == []


def test_a_broken_rule_collides_and_wrong_sql_is_ours(tmp_path: Path) -> None:
    connection = connect(tmp_path / "t.db", 0.5)
    with closing(connection.db):
        connection.run("CREATE TABLE t (n INTEGER UNIQUE)")
        connection.run("INSERT INTO t (n) VALUES (1)")
        with pytest.raises(Conflict), translated():
            connection.run("INSERT INTO t (n) VALUES (1)")
        with pytest.raises(sqlite3.OperationalError), translated():
            connection.run("INSERT INTO absent (n) VALUES (1)")


def test_a_lock_passes_and_a_file_that_cannot_be_opened_does_not(tmp_path: Path) -> None:
    one, two = connect(tmp_path / "t.db", 0.1), connect(tmp_path / "t.db", 0.1)
    with closing(one.db), closing(two.db):
        one.run("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="busy") as busy, translated():
            two.run("BEGIN IMMEDIATE")
    assert not isinstance(busy.value, Unwritable)
    with pytest.raises(Unwritable, match="cannot be opened"), translated():
        connect(tmp_path / "absent" / "t.db", 0.1)


def test_a_read_only_database_says_so(tmp_path: Path) -> None:
    connect(tmp_path / "t.db", 0.1).db.close()
    with (
        closing(sqlite3.connect(f"file:{tmp_path}/t.db?mode=ro", uri=True)) as reading,
        pytest.raises(Unwritable, match="read-only"),
        translated(),
    ):
        reading.execute("CREATE TABLE t (n INTEGER)")


@pytest.mark.parametrize(
    ("code", "ours"),
    [
        (sqlite3.SQLITE_FULL, Unwritable),
        (sqlite3.SQLITE_IOERR_WRITE, Unwritable),
        (sqlite3.SQLITE_CORRUPT, Damaged),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Unavailable),
    ],
)
def test_codes(code: int, ours: type[Unavailable]) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    assert type(translation(error)) is ours
    assert translation(ValueError()) is None


def test_it_has_our_pragmas_and_what_is_said_first(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "a.db", 1, "auto_vacuum=2").db) as db:
        names = ("auto_vacuum", "journal_mode", "synchronous", "foreign_keys", "wal_autocheckpoint", "secure_delete")
        assert [db.execute(f"PRAGMA {name}").fetchone()[0] for name in names] == [2, "wal", 2, 1, 0, 1]
        assert db.execute("SELECT holds('ÄRGER', 'arg')").fetchone() == (1,)


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database" * 500)
    with pytest.raises(sqlite3.DatabaseError):
        connect(tmp_path / "a.db", 1)


def test_trouble_is_said_once_and_is_over_when_there_is_room(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    room = [False]
    health = WriteHealth(Path("/data"), lambda: room[0])

    for _ in range(3):
        health.failed(Unwritable.because("the disk is full"))
    health.succeeded()
    assert [record.levelname for record in caplog.records] == ["ERROR"] and health.error is not None
    assert "/data: the disk is full." in caplog.text
    room[0] = True
    health.succeeded()
    health.succeeded()
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"] and health.error is None


def test_a_copy_is_whole_and_its_owners(store: SQLiteStore, data: Path) -> None:
    target = data / "copy.db"
    sqlite.copy_database(data / "patchbay.db", target)
    sqlite.inspect_copy(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        sqlite.copy_database(data / "patchbay.db", target)


def test_what_is_no_database_of_ours_is_refused(data: Path) -> None:
    (data / "text.db").write_text("this is text and no database at all")
    with pytest.raises(Invalid, match="damaged"):
        sqlite.inspect_copy(data / "text.db")
    with closing(sqlite3.connect(data / "other.db")) as other:
        other.execute("CREATE TABLE things (id TEXT)")
    with pytest.raises(Invalid, match="holds no database of Patchbay"):
        sqlite.inspect_copy(data / "other.db")


def test_a_newer_schema_is_refused(store: SQLiteStore, data: Path) -> None:
    target = data / "copy.db"
    sqlite.copy_database(data / "patchbay.db", target)
    with closing(sqlite3.connect(target)) as newer:
        newer.execute("UPDATE _sqlite_migrations SET name = 'm999_tomorrow' WHERE name = 'm001_foundation'")
        newer.commit()
    with pytest.raises(Invalid, match="newer version"):
        sqlite.inspect_copy(target)
