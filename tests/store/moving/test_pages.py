"""Pages follow the primary key, however many columns it has; equal rows have equal sums."""

import pytest

from tests.store.moving.conftest import NewStore
from webapp.store.moving import pages
from webapp.store.moving.shapes import Shape

NUMBERS = Shape("numbers", ("name", "n", "box"), ("name", "n"), refers_to_itself=False)
ROWS = [(name, n, None if n else b"\0x") for name in ("B", "a", "ü") for n in (0, 1, 1 << 40)]


@pytest.fixture
def store(new_store: NewStore) -> NewStore:
    with new_store().write() as tx:
        tx.run("CREATE TABLE numbers (name TEXT, n BIGINT, box BLOB)".replace("BLOB", _blob(new_store)))
        tx.load("numbers", NUMBERS.columns, reversed(ROWS))
    return new_store


def _blob(new_store: NewStore) -> str:
    return "BLOB" if new_store().folder else "BYTEA"


def test_pages_follow_each_other(store: NewStore) -> None:
    reader, rows = store(), list[tuple[object, ...]]()
    after: tuple[object, ...] = ()
    while page := pages.page(reader, NUMBERS, after, 2):
        rows += page
        after = pages.key_of(NUMBERS, page[-1])
    assert sorted(map(repr, rows)) == sorted(map(repr, ROWS)) and len(rows) == len(ROWS)


def test_the_sum_counts_and_changes_with_any_value(store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = store()
    whole = pages.checksum(reader, NUMBERS)
    monkeypatch.setattr(pages, "PAGE", 2)
    assert pages.checksum(reader, NUMBERS) == whole and whole.rows == len(ROWS)
    with reader.write() as tx:
        tx.run("UPDATE numbers SET n = 2 WHERE name = 'B' AND n = 1")
    assert pages.checksum(reader, NUMBERS).sha256 != whole.sha256
