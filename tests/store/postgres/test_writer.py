"""Writers come one after another; one that is cut off, or falls silent, is undone, and the next one writes."""

from contextlib import closing

import pytest

from tests.store.postgres.test_connections import ADD, cut, names
from webapp.errors import Unavailable
from webapp.store.contract import Tx
from webapp.store.postgres import writer
from webapp.store.postgres.store import PostgresStore


def test_a_write_that_is_cut_off_is_undone_and_says_so(postgres: PostgresStore, url: str) -> None:
    def interrupted(tx: Tx) -> None:
        tx.run(ADD, {"name": "before"})
        cut(url)
        tx.run(ADD, {"name": "after"})

    with pytest.raises(Unavailable), postgres.write() as tx:
        interrupted(tx)
    with pytest.raises(Unavailable), postgres.write() as tx:
        tx.run(ADD, {"name": "uncommitted"})
        cut(url)
    assert names(postgres) == []
    with postgres.write() as tx:
        tx.run(ADD, {"name": "next"})
    assert names(postgres) == ["next"]


def test_whoever_waits_too_long_for_the_lock_is_refused(postgres: PostgresStore, url: str) -> None:
    other = PostgresStore(url, connections=2, patience_s=0.1)
    with postgres.write() as tx:
        tx.run(ADD, {"name": "a"})
        with pytest.raises(Unavailable), other.write():
            pytest.fail("two wrote at once")
        assert other.tuples("SELECT * FROM counters") == []
    with other.write() as tx:
        tx.run(ADD, {"name": "b"})
    other.close()
    assert names(postgres) == ["a", "b"]


def test_whoever_holds_the_lock_in_silence_loses_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a machine does that has lost its power, or its network."""
    monkeypatch.setattr(writer, "SILENT_S", 0.1)
    with closing(PostgresStore(url, connections=2)) as silent, closing(PostgresStore(url, connections=2)) as other:

        def stopped(tx: Tx) -> None:
            tx.run(ADD, {"name": "lost"})
            with other.write() as later:
                later.run(ADD, {"name": "kept"})

        with pytest.raises(Unavailable), silent.write() as tx:
            stopped(tx)
        assert names(other) == names(silent) == ["kept"]
