"""A move brings every row over, goes on where it was interrupted, and says so where the two are not the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.once import postgres as databases
from tests.store.moving.conftest import ROWS, NewStore
from webapp.errors import Conflict
from webapp.kit.clock import now
from webapp.kit.crypto import ordered_id_at
from webapp.store.contract import Store
from webapp.store.months import name_of, number_at, start_of
from webapp.store.moving import move, progress
from webapp.store.moving.pages import checksum
from webapp.store.moving.shapes import shapes
from webapp.store.postgres.store import PostgresStore
from webapp.store.sqlite import SQLiteStore

KEYS = "SELECT id FROM {} ORDER BY id"


class Interrupted(Exception):
    """The process died."""


def silent(_: str) -> None:
    """Nobody reads the lines."""


def interrupting(start: str) -> Callable[[str], None]:
    def say(line: str) -> None:
        if line.startswith(start):
            raise Interrupted

    return say


def test_everything_arrives_though_it_is_interrupted_between_and_within_batches(
    source: SQLiteStore, new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Interrupted):
        move.move(source, new_store(), interrupting("accounts: 20 of"))
    advance = progress.advance

    def dying(tx: Any, reached: progress.Progress, *args: Any, **options: Any) -> progress.Progress:
        changed = advance(tx, reached, *args, **options)
        if reached.name == "runs" and reached.copied == 10:
            raise Interrupted
        return changed

    monkeypatch.setattr(progress, "advance", dying)
    with pytest.raises(Interrupted):
        move.move(source, new_store(), silent)
    monkeypatch.setattr(progress, "advance", advance)
    with pytest.raises(Conflict, match="is not finished"):
        progress.refuse_unfinished(new_store())
    assert len(new_store().tuples(KEYS.format("runs"))) == 10
    lines: list[str] = []
    sums = move.move(source, new_store(), lines.append)
    assert f"runs: 10 of {ROWS + 15} are there already" in lines and f"runs: 20 of {ROWS + 15}" in lines
    assert not any(line.startswith("accounts: 10 of") for line in lines)
    target = new_store()
    progress.refuse_unfinished(target)
    assert sums == {shape.name: checksum(target, shape) for shape in shapes()}
    assert (sums["accounts"].rows, sums["provider_clients"].rows, sums["events"].rows) == (ROWS + 15, 4, 12)
    assert target.tuples(KEYS.format("accounts")) == source.tuples(KEYS.format("accounts"))
    assert move.total(sums).rows == sum(count for count, _ in sums.values())


def test_it_comes_back_as_it_went(source: SQLiteStore, tmp_path: Path) -> None:
    """And what is kept by months comes into its month."""
    last_month = start_of(number_at(now()) - 1)
    with source.write() as tx:
        tx.run("UPDATE events SET at = :at", {"at": last_month})
        tx.run("UPDATE events SET id = :id WHERE size = 0", {"id": ordered_id_at("evt", last_month)})
    name = databases.new()
    server, back = PostgresStore(databases.url(name), connections=4), SQLiteStore(tmp_path / "back.db")
    try:
        back.migrate()
        assert move.move(source, server, silent) == move.move(server, back, silent)
        places = server.tuples("SELECT DISTINCT tableoid::regclass::text FROM events ORDER BY 1")
        assert places == [(f"events_{name_of(number_at(last_month))}",), ("events_default",)]
        ((text,),) = back.tuples("SELECT component_key FROM runs LIMIT 1")
        assert text == "tab\t, a \\x00, ü, 🙂, \\. and a NUL: \ufffd"
        assert back.faults() == [] and back.tuples("PRAGMA foreign_key_check") == []
    finally:
        server.close()
        back.close()
        databases.drop(name)


def test_a_source_that_was_used_meanwhile_is_refused(source: SQLiteStore, new_store: NewStore) -> None:
    with pytest.raises(Interrupted):
        move.move(source, new_store(), interrupting("accounts: 20 of"))
    with source.write() as tx:
        tx.run("UPDATE counters SET n = 8 WHERE name = 'generations'")
    with pytest.raises(Conflict, match="was in use since"):
        move.move(source, new_store(), silent)


def test_what_did_not_arrive_as_it_was_is_said_and_not_served(source: SQLiteStore, new_store: NewStore) -> None:
    target: Store = new_store()

    def meddle(line: str) -> None:
        if "compared" in line:
            with target.write() as tx:
                tx.run("DELETE FROM runs WHERE id = 'other_3'")

    with pytest.raises(Conflict, match=rf"runs did not arrive .*{ROWS + 15} rows there, {ROWS + 14} here"):
        move.move(source, target, meddle)
    with pytest.raises(Conflict, match="is not finished"):
        progress.refuse_unfinished(target)
