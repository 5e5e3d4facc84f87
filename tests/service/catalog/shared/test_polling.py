"""Polling emits each row once, oldest first, also where several rows bear the same time."""

from types import SimpleNamespace
from typing import Any, cast

from webapp.service.catalog.shared.polling import last_time, unseen
from webapp.service.components.authoring import Context
from webapp.service.components.context import Memory


def trigger() -> Context:
    return cast(Context, SimpleNamespace(db=Memory({}, lambda _: None)))


def row(id: int, at: str) -> dict[str, Any]:
    return {"id": id, "at": at}


def new(ctx: Context, *rows: dict[str, Any]) -> list[int]:
    return [row["id"] for row in unseen(ctx, rows, at=lambda row: str(row["at"]))]


def test_each_row_comes_once_and_the_oldest_first() -> None:
    ctx = trigger()
    assert last_time(ctx) is None
    assert new(ctx, row(2, "b"), row(1, "a"), row(2, "b")) == [1, 2]
    assert new(ctx, row(2, "b"), row(1, "a")) == [] and last_time(ctx) == "b"


def test_rows_of_the_newest_time_may_still_come() -> None:
    ctx = trigger()
    assert new(ctx, row(1, "a")) == [1]
    assert new(ctx, row(2, "a"), row(1, "a")) == [2]
    assert new(ctx, row(3, "b"), row(2, "a"), row(1, "a")) == [3]
    assert new(ctx, row(3, "b"), row(2, "a")) == []


def test_a_run_that_ends_half_way_forgets_none() -> None:
    ctx = trigger()
    rows = [row(2, "b"), row(1, "a")]
    assert next(unseen(ctx, rows, at=lambda row: str(row["at"])))["id"] == 1
    assert new(ctx, *rows) == [1, 2]
