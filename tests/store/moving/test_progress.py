"""A move begins in an empty database alone, and its progress is what its batches left."""

import pytest

from tests.store.moving.conftest import NewStore
from webapp.errors import Conflict
from webapp.store.moving import progress
from webapp.store.moving.progress import Progress


def test_a_new_database_is_marked_and_what_migrating_left_there_is_cleared(new_store: NewStore) -> None:
    store = new_store()
    with store.write() as tx:
        tx.run("INSERT INTO counters (name, n) VALUES ('generations', 3)")
    progress.begin(store, "here")
    assert store.tuples("SELECT * FROM counters") == []
    progress.begin(store, "here")
    with pytest.raises(Conflict, match="began at another source"):
        progress.begin(store, "elsewhere")


def test_a_database_that_holds_something_is_left_alone(new_store: NewStore) -> None:
    store = new_store()
    with store.write() as tx:
        tx.run("INSERT INTO page_changes (name, n, at) VALUES ('look', 1, 1)")
    with pytest.raises(Conflict, match="There is an installation"):
        progress.begin(store, "here")
    progress.refuse_unfinished(store)


def test_what_a_table_has_reached(new_store: NewStore) -> None:
    store = new_store()
    reached = progress.of(store, "runs")
    assert reached == Progress("runs")
    with store.write() as tx:
        reached = progress.advance(tx, reached, ("a", 1), 2, ended=False)
        reached = progress.advance(tx, reached, None, 0, ended=True)
    assert progress.of(store, "runs") == reached == Progress("runs", ("a", 1), 2, ended=True)
    progress.finish(store)
    assert progress.of(store, "runs") == Progress("runs")
