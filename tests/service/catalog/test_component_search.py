"""Finding components: by key, id and version; searched, filtered and paged, in the tables that a build wrote."""

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlite_utils import Database

from webapp.kit import cursors
from webapp.kit.crypto import stable_id
from webapp.service.catalog import component_tables
from webapp.service.catalog.component_search import ComponentFilter, Components
from webapp.service.catalog.components import component

APPS: Any = {
    slug: SimpleNamespace(slug=slug, name=slug.title(), aliases=(f"{slug}_v2",))
    for slug in ("acme", "globex", "initech")
}


def row(key: str, version: str = "1.0.0", **facts: Any) -> dict[str, Any]:
    return {
        "key": key, "version": version, "kind": "action", "name": key.split("-", 1)[-1].replace("-", " ").title(),
        "description": "Does it.", "configurable_props": "[]", "annotations": "{}", "has_reload": 0, "stash": None,
        "dedupe": None, "hooks": "[]", "aliases": '{"names": [], "props": {}}',
        "root": None, "path": f"{key}/{version}.py", "app": key.split("-")[0], **facts,
    }  # fmt: skip


def catalog_of(*rows: Mapping[str, Any], hidden: tuple[str, ...] = ()) -> Components:
    database = Database(sqlite3.connect(":memory:"))
    component_tables.create(database)
    component_tables.write(database, rows, APPS)
    database.conn.row_factory = sqlite3.Row
    return Components(
        lambda sql, params: database.conn.execute(sql, params).fetchall(),
        lambda found: component(dict(found), {}, Path("/somewhere")),
        hidden,
    )


@pytest.fixture
def found() -> Components:
    return catalog_of(
        row("globex-create-task", "1.0.0"),
        row("globex-create-task", "1.10.0", name="Create Task"),
        row("globex-create-task", "1.9.0"),
        row("acme-launch-rocket", description="Sends a rocket up, with its crew."),
        row("acme-new-launch", kind="trigger"),
        row("~/greet", app=None, name="Ärger vermeiden"),
    )


def keys(found: Components, window: cursors.Window | None = None, **narrowed: Any) -> list[str]:
    wanted = {"q": None, "app": None, "kind": None, "registry": "all", **narrowed}
    page = found.search(ComponentFilter.of(**wanted), window or cursors.Window())
    return [item.key for item in page.items]


def test_the_highest_release_wins_and_every_version_can_be_asked_for(found: Components) -> None:
    newest = found.get("globex-create-task")
    assert newest is not None and newest.version == "1.10.0"
    older = found.get("globex-create-task", "1.9.0")
    assert older is not None and older.version == "1.9.0"
    assert found.get("globex-create-task", "1.8.0") is None
    assert found.get("globex-create-task", "1.10") is None
    assert found.get("nothing") is None


def test_an_id_names_one_version_and_never_changes(found: Components) -> None:
    older = found.get(stable_id("sc", "globex-create-task", "1.9.0"))
    assert older is not None and older.version == "1.9.0"
    assert found.get(older.id, "1.9.0") == older
    assert found.get(older.id, "1.10.0") is None


def test_lists_show_the_highest_release_by_name(found: Components) -> None:
    assert keys(found) == ["~/greet", "globex-create-task", "acme-launch-rocket", "acme-new-launch"]
    assert keys(found, kind="trigger") == ["acme-new-launch"]
    assert keys(found, app="acme", kind="action") == ["acme-launch-rocket"]
    assert keys(found, registry="private") == ["~/greet"]
    assert keys(found, registry="public") == ["globex-create-task", "acme-launch-rocket", "acme-new-launch"]


def test_search_takes_beginnings_of_words_and_prefers_names(found: Components) -> None:
    assert keys(found, q="rock") == ["acme-launch-rocket"]
    assert keys(found, q="LAUNCH acme") == ["acme-launch-rocket", "acme-new-launch"]
    assert keys(found, q="crew") == ["acme-launch-rocket"]
    assert keys(found, q="arger") == ["~/greet"]
    assert keys(found, q="ocket") == []
    assert keys(found, q="***") == []
    assert keys(found, q="  ") == keys(found)


def test_pages_hold_together_and_cursors_of_other_filters_do_not(found: Components) -> None:
    everything = ComponentFilter.of(None, None, None, "all")
    first = found.search(everything, cursors.Window(3))
    rest = found.search(everything, cursors.Window(3, after=first.end_cursor))
    assert [item.key for item in (*first.items, *rest.items)] == keys(found)
    assert (first.total_count, rest.total_count, rest.end_cursor) == (4, 4, "")
    back = found.search(everything, cursors.Window(2, before=rest.start_cursor))
    assert [item.key for item in back.items] == keys(found)[1:3]
    with pytest.raises(cursors.BadCursor):
        found.search(ComponentFilter.of("a", None, None, "all"), cursors.Window(3, after=first.end_cursor))


def test_pages_go_both_ways_through_what_matches_by_name_and_the_rest() -> None:
    named = [row(f"acme-tea-{number}") for number in range(5)]
    found = catalog_of(*named, *(row(f"acme-cup-{number}", description="For tea.") for number in range(5)))
    tea, seen, cursor = ComponentFilter.of("tea", None, None, "all"), list[str](), ""
    while len(seen) < 10:
        page = found.search(tea, cursors.Window(3, after=cursor or None))
        seen += [info.key for info in page.items]
        cursor = page.end_cursor
        assert page.total_count == 10
    assert seen == sorted(seen, key=lambda key: ("tea" not in key, key)) and not cursor
    before = found.search(tea, cursors.Window(3, before=page.start_cursor))
    assert [info.key for info in before.items] == seen[6:9]
    between = found.search(tea, cursors.Window(9, after=before.start_cursor, before=page.start_cursor))
    assert [info.key for info in between.items] == seen[7:9]


def test_a_cursor_holds_where_its_component_is_gone_and_others_came() -> None:
    everything = ComponentFilter.of(None, None, None, "all")
    first = catalog_of(*(row(f"acme-{name}") for name in "bdf")).search(everything, cursors.Window(2))
    later = catalog_of(*(row(f"acme-{name}") for name in "acef"))
    rest = later.search(everything, cursors.Window(9, after=first.end_cursor))
    assert [info.key for info in rest.items] == ["acme-e", "acme-f"]
    broken = cursors.encode(cursors.fingerprint("components", None, None, None, "all"), ("x", "y", "z"))
    with pytest.raises(cursors.BadCursor):
        later.search(everything, cursors.Window(9, after=broken))


def test_what_belongs_to_an_app_that_is_not_here_is_absent() -> None:
    rows = row("acme-do"), row("globex-do"), row("~/do", app="globex"), row("~/own", app=None)
    found = catalog_of(*rows, hidden=("globex",))
    assert keys(found) == ["acme-do", "~/own"] == [*keys(found, q="do ac"), *keys(found, q="own")]
    assert found.search(ComponentFilter.of(None, None, None, "all"), cursors.Window()).total_count == 2
    for name in ("globex-do", "globex_v2-do", stable_id("sc", "globex-do", "1.0.0"), "~/do"):
        assert found.get(name) is None and found.get(name, "1.0.0") is None


def test_other_names_find_it_but_where_they_are_anothers_own() -> None:
    known = '{"names": ["make-task", "create"], "props": {}}'
    found = catalog_of(row("globex-create-task", aliases=known), row("globex-create"))
    for name in ("globex-make-task", "globex_v2-create-task", "globex_v2-make-task"):
        assert found.get(name) == found.get("globex-create-task")
    assert found.get("globex-create") != found.get("globex-create-task")


def test_a_search_of_one_kind_reads_no_more_than_what_has_the_words() -> None:
    database, plans = Database(sqlite3.connect(":memory:")), list[str]()
    component_tables.create(database)
    component_tables.write(database, [row("acme-create-task")], APPS)
    database.conn.row_factory = sqlite3.Row

    def read(sql: str, params: Any) -> list[sqlite3.Row]:
        if "MATCH" in sql:
            plans.append(database.conn.execute(f"EXPLAIN QUERY PLAN {sql}", params).fetchone()["detail"])
        return database.conn.execute(sql, params).fetchall()

    searched = Components(read, lambda each: component(dict(each), {}, Path("/somewhere")))
    searched.search(ComponentFilter.of("task", "acme", "action", "all"), cursors.Window())
    assert plans and all("listed_words" in plan for plan in plans), plans


@pytest.mark.faults
def test_a_hundred_thousand_are_searched_in_milliseconds() -> None:
    names = ("create", "find", "update", "watch")
    found = catalog_of(
        *(
            row(f"acme-{names[number % 4]}-{number}", description=f"About thing{number % 1_000}.")
            for number in range(100_000)
        )
    )
    for words, most_ms in ((None, 50), ("thing77", 50), ("create 4000", 50), ("create", 200)):
        narrowed = ComponentFilter.of(words, None, None, "all")
        for limit_ms in (most_ms, 20):  # once counted, a page is cheap
            began = time.process_time()
            page = found.search(narrowed, cursors.Window(20))
            spent_ms = (time.process_time() - began) * 1000
            print(f"{words}: {page.total_count:,} in {spent_ms:.1f} ms")
            assert page.items and spent_ms < limit_ms
