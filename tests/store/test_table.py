"""Tables: a record goes in and comes out as it was; named columns change; lists come page by page; exact
counts follow the rows they count."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal, NamedTuple

import pytest

from webapp.errors import Conflict
from webapp.kit.cursors import BadCursor, Window
from webapp.store.contract import Store
from webapp.store.sqlite import SQLiteStore
from webapp.store.table import Table, add_to_counts, drop_counts, read_counts


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Owner(NamedTuple):
    project_id: str
    public: bool


@dataclass(frozen=True, slots=True)
class Thing:
    id: str
    owner: Owner
    kind: Literal["a", "b"]
    mood: Mood | None
    tags: tuple[str, ...]
    facts: Mapping[str, Any] | None
    checked: bool | None
    picture: bytes | None
    created_at: int


THINGS = Table("things", Thing, write_only=("secret_hash",))
THING = Thing("t1", Owner("p", True), "a", Mood.GOOD, ("x", "ü"), {"n": [1, None]}, None, b"\0\xff", 5)


@pytest.fixture
def things(any_store: Store) -> Store:
    """A store with the table, and one thing in it."""
    with any_store.write() as tx:
        tx.run(
            "CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL, public INTEGER NOT NULL, "
            "kind TEXT, mood TEXT, tags TEXT, facts TEXT, checked INTEGER, picture BYTEA, created_at BIGINT NOT NULL, "
            "secret_hash TEXT)"
        )
        THINGS.insert(tx, THING, secret_hash="h")
    return any_store


def test_a_record_comes_back_as_it_was(things: Store) -> None:
    assert THINGS.get(things, "t1") == THING
    assert THINGS.get(things, "t2") is None


def test_columns_that_are_written_alone_are_not_read(things: Store) -> None:
    assert things.one("SELECT secret_hash FROM things") == {"secret_hash": "h"}
    assert "secret_hash" not in THINGS.columns


def test_values_stand_in_their_columns_as_text_and_numbers(things: Store) -> None:
    row = things.one("SELECT public, mood, tags, facts, checked FROM things")
    assert row == {"public": 1, "mood": "good", "tags": '["x","ü"]', "facts": '{"n":[1,null]}', "checked": None}


@pytest.mark.parametrize("fact", ["\ud800", 2**70])
def test_json_holds_what_is_rare(things: Store, fact: Any) -> None:
    with things.write() as tx:
        THINGS.insert(tx, replace(THING, id="t2", facts={"rare": fact}), secret_hash=None)
    found = THINGS.get(things, "t2")
    assert found is not None and found.facts == {"rare": fact}


def test_a_key_that_is_taken_is_a_conflict(things: Store) -> None:
    with pytest.raises(Conflict), things.write() as tx:
        THINGS.insert(tx, THING, secret_hash="h")


def test_named_columns_change_and_no_others(things: Store) -> None:
    with things.write() as tx:
        assert THINGS.update(tx, "t1", mood=Mood.BAD, checked=True, tags=(), secret_hash="i") == 1
        assert THINGS.update(tx, "t2", mood=Mood.BAD) == 0
    assert THINGS.get(things, "t1") == replace(THING, mood=Mood.BAD, checked=True, tags=())
    assert things.one("SELECT secret_hash FROM things") == {"secret_hash": "i"}


def test_an_upsert_writes_over_all_but_what_is_kept(things: Store) -> None:
    with things.write() as tx:
        THINGS.upsert(tx, replace(THING, kind="b", created_at=9), secret_hash="h")
        THINGS.upsert(tx, replace(THING, id="t2"), secret_hash="h")
    assert THINGS.all(things, "1 = 1 ORDER BY id") == [replace(THING, kind="b"), replace(THING, id="t2")]


def test_a_row_is_deleted_by_its_key(things: Store) -> None:
    with things.write() as tx:
        assert (THINGS.delete(tx, "t2"), THINGS.delete(tx, "t1"), THINGS.delete(tx, "t1")) == (0, 1, 0)


def test_records_are_found_and_counted_by_conditions(things: Store) -> None:
    with things.write() as tx:
        THINGS.insert(tx, replace(THING, id="t2", kind="b"), secret_hash=None)
    assert THINGS.one(things, "kind = :kind", {"kind": "b"}) == replace(THING, id="t2", kind="b")
    assert THINGS.one(things, "kind = :kind", {"kind": "c"}) is None
    assert THINGS.count(things, "project_id = :project", {"project": "p"}) == 2


def test_a_list_comes_page_by_page(things: Store) -> None:
    with things.write() as tx:
        for number in range(2, 6):
            THINGS.insert(tx, replace(THING, id=f"t{number}", created_at=number), secret_hash=None)
    where, params = "project_id = :project", {"project": "p"}
    first = THINGS.page(things, Window(limit=3), where, params, descending=True)
    rest = THINGS.page(things, Window(limit=3, after=first.end_cursor), where, params, descending=True)
    assert [thing.id for thing in (*first.items, *rest.items)] == ["t5", "t1", "t4", "t3", "t2"]
    assert (first.total_count, rest.end_cursor) == (5, "")
    assert THINGS.page(things, Window(), where, params, total=77).total_count == 77
    with pytest.raises(BadCursor):
        THINGS.page(things, Window(after=first.end_cursor), "project_id <> :project", params)


def test_a_field_that_no_column_holds_is_refused() -> None:
    @dataclass(frozen=True)
    class Wrong:
        id: complex

    with pytest.raises(TypeError, match="complex"):
        Table("wrong", Wrong)


def test_a_count_starts_at_nothing_and_follows_its_transaction(store: SQLiteStore) -> None:
    assert read_counts(store, "a") == {}
    with store.write() as tx:
        add_to_counts(tx, ["a", "b"], 2)
        add_to_counts(tx, ["a"], -1)
    assert read_counts(store, "a", "b", "c") == {"a": 1, "b": 2}


def test_dropping_a_prefix_leaves_its_neighbours(store: SQLiteStore) -> None:
    with store.write() as tx:
        add_to_counts(tx, ["proj_1|x", "proj_1|é", "proj_10|x", "proj_2|x"], 1)
        drop_counts(tx, "proj_1|")
    left = [row["name"] for row in store.all("SELECT name FROM counters ORDER BY name")]
    assert left == ["proj_10|x", "proj_2|x"]
