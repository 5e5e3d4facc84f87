"""Pages are taken from a real database, so that the planned SQL is what is tested."""

import base64
import json
import sqlite3
from collections.abc import Iterator
from itertools import pairwise

import pytest

from webapp.kit import cursors
from webapp.kit.cursors import BadCursor, Page, Window

MARK = cursors.fingerprint("things", "created_at")
Thing = tuple[int, str]


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """Fifty things, many of which share a time."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE things (at INTEGER, id TEXT)")
    connection.executemany("INSERT INTO things VALUES (?, ?)", [(n // 7, f"t{n:02}") for n in range(50)])
    yield connection
    connection.close()


def listed(db: sqlite3.Connection, window: Window, *, descending: bool = False) -> Page[Thing]:
    plan = cursors.keyset(window, MARK, ("at", "id"), descending=descending)
    sql = f"SELECT at, id FROM things WHERE 1 = 1{plan.conditions} ORDER BY {plan.order} LIMIT {plan.limit}"
    rows: list[Thing] = db.execute(sql, plan.params).fetchall()
    (total,) = db.execute("SELECT COUNT(*) FROM things").fetchone()
    return cursors.page(rows, window, plan, MARK, lambda thing: thing, total)


def every(descending: bool) -> list[Thing]:
    return sorted(((n // 7, f"t{n:02}") for n in range(50)), reverse=descending)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [1, 7, 49, 50, 51, 100])
def test_following_end_cursor_shows_everything_once_in_order(
    db: sqlite3.Connection, limit: int, descending: bool
) -> None:
    found: list[Thing] = []
    after: str | None = None
    while after != "":
        page = listed(db, Window(limit, after=after), descending=descending)
        assert page.total_count == 50
        found += page.items
        after = page.end_cursor
    assert found == every(descending)


@pytest.mark.parametrize("descending", [False, True])
def test_before_gives_the_last_rows_ahead_of_a_cursor_in_the_same_order(
    db: sqlite3.Connection, descending: bool
) -> None:
    whole = listed(db, Window(30), descending=descending)
    page = listed(db, Window(5, before=whole.end_cursor), descending=descending)
    assert list(page.items) == every(descending)[24:29]
    first = listed(db, Window(5, before=page.start_cursor), descending=descending)
    assert list(first.items) == every(descending)[19:24]


def test_before_and_after_give_the_range_between(db: sqlite3.Connection) -> None:
    low = listed(db, Window(10)).end_cursor
    high = listed(db, Window(15)).end_cursor
    page = listed(db, Window(100, after=low, before=high))
    assert list(page.items) == every(False)[10:14]
    assert page.end_cursor == ""


def test_rows_inserted_meanwhile_shift_nothing(db: sqlite3.Connection) -> None:
    first = listed(db, Window(10))
    db.executemany("INSERT INTO things VALUES (?, ?)", [(0, f"a{n}") for n in range(5)])
    second = listed(db, Window(10, after=first.end_cursor))
    assert list(second.items) == every(False)[10:20]


def test_a_page_of_nothing(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM things")
    page = listed(db, Window(10))
    assert (list(page.items), page.start_cursor, page.end_cursor, page.total_count) == ([], "", "", 0)


def test_a_cursor_of_another_list_is_told_from_a_broken_one() -> None:
    for key in ((1, "t01"), ("t01",), (1, "t01", "one")):
        foreign = cursors.encode(cursors.fingerprint("things", "name"), key)
        with pytest.raises(BadCursor, match="belongs to another"):
            cursors.decode(MARK, foreign, 2)


def raw(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x", "====", "a b", "ünïcode", "\x00", "\ud800", "e30", "A" * 4_000, raw(MARK), raw([]), raw([MARK, 1]),
        raw([MARK, 1, "t", "more"]), raw([MARK, 1, None]), raw([MARK, True, "t"]), raw([MARK, 1.5, "t"]),
        raw([MARK, 2**63, "t"]), raw([MARK, 1, "\ud800"]), raw([MARK, [1], "t"]), raw([MARK, {"a": 1}, "t"]),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(), base64.urlsafe_b64encode(b"\xff\xfe\xfd").decode(),
        base64.urlsafe_b64encode(b'["' + MARK.encode() + b'",' + b"9" * 5_000 + b',"t"]').decode(),
    ],
    ids=lambda cursor: ascii(cursor[:16]),
)  # fmt: skip
def test_a_broken_cursor_is_refused_with_a_sentence(cursor: str) -> None:
    with pytest.raises(BadCursor, match=r"start again without it\.$"):
        cursors.decode(MARK, cursor, 2)


@pytest.mark.parametrize("key", [(0, ""), (-(2**63) + 1, "a"), (2**63 - 1, "ü/+?=&"), ("x", "\x00")])
def test_a_cursor_gives_back_its_key(key: cursors.Key) -> None:
    cursor = cursors.encode(MARK, key)
    assert cursors.decode(MARK, cursor, 2) == key
    assert not set(cursor) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_fingerprints_differ_by_part() -> None:
    marks = [cursors.fingerprint(*parts) for parts in (("a",), ("a", "b"), ("ab",), ("a", None), ("a", ["b"]))]
    assert all(one != other for one, other in pairwise(sorted(marks)))
    assert cursors.fingerprint("a", None) == cursors.fingerprint("a", None)
