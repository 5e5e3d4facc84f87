"""The logs merge what each table has, and find what belongs to an id."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.store.lists import NOW, SCENE, filled
from webapp.kit.cursors import Window
from webapp.service.domain.logs import logs
from webapp.service.domain.projects.log_entries import KINDS, MOST_COUNTED, LogFilter
from webapp.service.domain.projects.projects import Scene
from webapp.store.sqlite import SQLiteStore

OTHERS = 150


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStore]:
    with closing(filled(Path(tmp_path_factory.mktemp("logs")) / "patchbay.db", OTHERS)) as store:
        yield store


def test_every_row_is_listed_once_from_the_newest_to_the_oldest(store: SQLiteStore) -> None:
    keys, after = list[tuple[int, str]](), ""
    while True:
        page = logs.page(store, NOW, LogFilter(SCENE), Window(100, after or None))
        keys += [(entry.at, entry.id) for entry in page.entries]
        after = page.end_cursor
        if not after:
            break
    tables = {source.table for source in logs.SOURCES}
    rows = sum(store.tuples(f"SELECT COUNT(*) FROM {table}")[0][0] for table in tables)
    assert len(keys) == len(set(keys)) == rows
    assert [at for at, _ in keys] == sorted((at for at, _ in keys), reverse=True)


@pytest.mark.parametrize("narrowed", [{}, {"status": "failed"}, {"app": "other"}, {"external_id": "other"}])
def test_parts_are_merged_row_by_row_and_never_sorted(store: SQLiteStore, narrowed: dict[str, Any]) -> None:
    plans = list[str]()

    class Planner:
        def tuples(self, sql: str, params: Any) -> list[tuple[Any, ...]]:
            plans.extend(step[-1] for step in store.tuples(f"EXPLAIN QUERY PLAN {sql}", params))
            return store.tuples(sql, params)

    user = {"user_id": "exu_other"} if "external_id" in narrowed else {}
    page = logs.page(Planner(), NOW, LogFilter(SCENE, **narrowed, **user), Window(50))  # type: ignore[arg-type]
    assert page.entries and any("MERGE" in step for step in plans)
    assert not any("TEMP B-TREE" in step for step in plans)


def test_counts_are_true_up_to_the_most(store: SQLiteStore) -> None:
    whole = logs.page(store, NOW, LogFilter(SCENE), Window(1)).counts
    assert whole == dict.fromkeys(KINDS, MOST_COUNTED)
    failed = logs.page(store, NOW, LogFilter(SCENE, status="failed"), Window(1)).counts
    assert failed["event"] == 0 and failed["account"] == failed["agent"] == failed["api_call"] == 15
    assert list(failed) == list(KINDS)


@pytest.mark.parametrize(
    ("entry_id", "kinds"),
    [("dc_wanted", {"run", "event", "delivery", "account"}), ("apn_wanted", {"account"}), ("sc_wanted", {"run"})],
)
def test_an_id_finds_what_belongs_to_it(store: SQLiteStore, entry_id: str, kinds: set[str]) -> None:
    page = logs.page(store, NOW, LogFilter(SCENE), Window(100), entry_id=entry_id)
    assert {entry.kind for entry in page.entries} == kinds
    assert logs.page(store, NOW, LogFilter(SCENE), Window(100), entry_id="none-such").entries == []


def test_what_belongs_to_an_id_is_shown_to_whom_it_belongs(store: SQLiteStore) -> None:
    window, wanted = Window(100), LogFilter(SCENE, external_id="wanted", user_id="exu_wanted")
    other = LogFilter(SCENE, external_id="other", user_id="exu_other")
    for entry_id in ("dc_wanted", "apn_wanted"):
        found = logs.page(store, NOW, wanted, window, entry_id=entry_id)
        assert {entry.external_user_id for entry in found.entries} == {"wanted"}
        assert any(found.counts.values())
        for stranger in (other, LogFilter(Scene("proj_2", "development")), LogFilter(Scene("proj_1", "production"))):
            hidden = logs.page(store, NOW, stranger, window, entry_id=entry_id)
            assert hidden.entries == [] and not any(hidden.counts.values())
    elsewhere = LogFilter(Scene("proj_2", "development"), external_id="wanted", user_id="exu_wanted")
    assert logs.page(store, NOW, elsewhere, window).entries == []
