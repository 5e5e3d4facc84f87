"""What one web process changes, another reads anew; one that is alone counts nothing."""

from flask import Flask

from webapp.dashboard.client.transport import Memory
from webapp.dashboard.shared.changes import Changes
from webapp.kit.clock import DAY, MINUTE, FakeClock
from webapp.store.sqlite import SQLiteStore


def test_a_change_in_one_process_reaches_the_memory_of_another(store: SQLiteStore, clock: FakeClock) -> None:
    mine, other = (Changes(store, clock, shared=True) for _ in range(2))
    memory: Memory[str] = Memory(clock, lifetime=MINUTE, state=other.count)
    memory.put("ada", "before")
    memory.put("ben", "another person's")
    assert memory.get("ada") == "before"
    mine.add("ada")
    assert (memory.get("ada"), memory.get("ben")) == (None, "another person's")
    memory.put("ada", "after")
    assert memory.get("ada") == "after"


def test_a_request_asks_once_and_sees_its_own_change(store: SQLiteStore, clock: FakeClock) -> None:
    changes = Changes(store, clock, shared=True)
    with Flask(__name__).test_request_context():
        assert changes.count("ada") == 0
        with store.write() as tx:
            tx.run("INSERT INTO page_changes (name, n, at) VALUES ('ada', 1, :now)", {"now": clock()})
        assert changes.count("ada") == 0
        changes.add("ada")
        assert changes.count("ada") == 2
    assert changes.count("ada") == 2


def test_what_changes_elsewhere_while_it_is_fetched_is_fetched_again(store: SQLiteStore, clock: FakeClock) -> None:
    mine, other = (Changes(store, clock, shared=True) for _ in range(2))
    memory: Memory[str] = Memory(clock, lifetime=MINUTE, state=other.count)
    here, elsewhere = Flask("here"), Flask("elsewhere")
    for _ in ("the first time", "when it is too old"):
        with here.test_request_context():
            assert memory.get("ada") is None
            with elsewhere.test_request_context():
                mine.add("ada")
            memory.put("ada", "read before the change")
        with here.test_request_context():
            assert memory.get("ada") is None
            memory.put("ada", "after")
        clock.advance(MINUTE)


def test_old_counts_are_forgotten(store: SQLiteStore, clock: FakeClock) -> None:
    changes = Changes(store, clock, shared=True)
    changes.add("ada")
    clock.advance(3 * DAY)
    changes.add("ben")
    assert (changes.count("ada"), changes.count("ben")) == (0, 1)


def test_a_process_that_is_alone_writes_nothing(store: SQLiteStore, clock: FakeClock) -> None:
    changes = Changes(store, clock, shared=False)
    changes.add("ada")
    assert store.all("SELECT name FROM page_changes") == []
