"""A component as the service knows it: one row of the catalog, where it stands, and what its version means.

Finding components: by key, id and version; searched, filtered and paged, in the tables that a build wrote.
"""

import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlite_utils import Database

from tests.fakes.form_library import is_drawn
from webapp.kit import cursors
from webapp.kit.crypto import stable_id
from webapp.service.catalog import build
from webapp.service.catalog.components import ComponentFilter, Components, component, release
from webapp.service.catalog.sources import BUILT_IN

APPS: Any = {
    slug: SimpleNamespace(slug=slug, name=slug.title(), aliases=(f"{slug}_v2",), featured_weight=0)
    for slug in ("acme", "globex", "initech")
}


def kept(key: str, **changes: Any) -> dict[str, Any]:
    facts = {
        "id": "sc_1", "key": key, "version": "1.0.0", "kind": "action", "name": "Count", "app": None, "has_reload": 0,
        "description": "Counts at ${sandbox}.", "json": '{"description": "Counts at ${sandbox}."}', "hooks": "[]",
        "prop_aliases": "{}", "dedupe": None, "root": None, "path": f"{key}/1.0.0.py",
    }  # fmt: skip
    return {**facts, **changes}


def test_it_stands_in_the_catalogs_own_folder_or_another(tmp_path: Path) -> None:
    built_in, own = kept("my_sheets-count"), kept("~/count", root="components")
    variables = {"sandbox": "http://localhost:8001"}
    found = [component(each, variables, tmp_path / "data") for each in (built_in, own)]
    assert [(info.own, info.path, info.description) for info in found] == [
        (False, BUILT_IN / "my_sheets-count/1.0.0.py", "Counts at http://localhost:8001."),
        (True, tmp_path / "data/components/~/count/1.0.0.py", "Counts at http://localhost:8001."),
    ]
    assert {info.json for info in found} == {b'{"description": "Counts at http://localhost:8001."}'}
    assert component(kept("acme-do", description="Does.", json="{}"), {}, tmp_path).json == b"{}"


def test_a_version_is_three_numbers() -> None:
    assert release("1.10.0") > release("1.9.9")
    for wrong in ("1", "1.0", "1.0.0-beta", "01.0.0", "1.0.0 "):
        with pytest.raises(ValueError, match="not a version"):
            release(wrong)


def row(key: str, version: str = "1.0.0", **facts: Any) -> dict[str, Any]:
    return {
        "key": key, "version": version, "kind": "action", "name": key.split("-", 1)[-1].replace("-", " ").title(),
        "description": "Does it.", "configurable_props": "[]", "annotations": "{}", "has_reload": 0, "stash": None,
        "dedupe": None, "hooks": "[]", "aliases": '{"names": [], "props": {}}',
        "root": None, "path": f"{key}/{version}.py", "app": key.split("-")[0], **facts,
    }  # fmt: skip


def catalog_of(*rows: Mapping[str, Any], hidden: tuple[str, ...] = ()) -> Components:
    database = Database(sqlite3.connect(":memory:"))
    build.create_component_tables(database)
    build.write_components(database, rows, APPS)
    database.conn.row_factory = sqlite3.Row
    return Components(
        lambda sql, params: database.conn.execute(sql, params).fetchall(),
        lambda found: component(dict(found), {}, Path("/somewhere")),
        hidden,
    )


def test_a_page_of_a_search_is_read_in_order_without_sorting_whatever_matches() -> None:
    database = Database(sqlite3.connect(":memory:"))
    build.create_component_tables(database)
    build.write_components(database, [row("acme-list")], APPS)
    database.conn.row_factory = sqlite3.Row
    plans = list[str]()

    def read(sql: str, params: Any) -> list[sqlite3.Row]:
        plans.extend(step["detail"] for step in database.conn.execute(f"EXPLAIN QUERY PLAN {sql}", params))
        return database.conn.execute(sql, params).fetchall()

    components = Components(read, lambda found: component(dict(found), {}, Path("/somewhere")))
    page = components.search(ComponentFilter.of("list", None, None, "all"), cursors.Window(2))
    assert [item.key for item in page.items] == ["acme-list"]
    assert any("listed_words" in step for step in plans) and not any("ORDER BY" in step for step in plans)


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


@pytest.mark.parametrize("q", ["launch", "task"])
def test_what_is_connected_comes_first_in_a_search_page_by_page(q: str) -> None:
    named = [f"{app}-{name}" for app in ("acme", "globex", "initech") for name in ("launch", "other-launch", "task")]
    found = catalog_of(
        *map(row, named),
        row("acme-api-launch", tag="Api"),
        row("globex-api-launch", tag="Api", description="For a task."),
        row("acme-note", description="For globex, a task or a launch."),
        row("~/launch", app=None),
    )
    narrowed, connected = ComponentFilter.of(q, None, None, "all"), ("globex", "___", "nowhere")
    usual = keys(found, q=q)
    expected = sorted(usual, key=lambda key: not key.startswith("globex-"))
    assert expected != usual
    seen, after = list[str](), None
    while after != "":
        page = found.search(narrowed, cursors.Window(2, after), connected)
        assert page.total_count == len(usual)
        seen, after = seen + [item.key for item in page.items], page.end_cursor
    assert seen == expected
    before = found.search(narrowed, cursors.Window(3, None, page.start_cursor), connected)
    assert [item.key for item in before.items] == seen[: -len(page.items)][-3:]
    for others in ({}, {"app": "acme"}, {"kind": "trigger"}, {"registry": "private"}):
        wanted: dict[str, Any] = {"q": q if others else None, "app": None, "kind": None, "registry": "all"} | others
        narrowed = ComponentFilter.of(**wanted)
        assert found.search(narrowed, cursors.Window(), connected) == found.search(narrowed, cursors.Window())


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
    build.create_component_tables(database)
    build.write_components(database, [row("acme-create-task")], APPS)
    database.conn.row_factory = sqlite3.Row

    def read(sql: str, params: Any) -> list[sqlite3.Row]:
        if "MATCH" in sql:
            plans.append(database.conn.execute(f"EXPLAIN QUERY PLAN {sql}", params).fetchone()["detail"])
        return database.conn.execute(sql, params).fetchall()

    searched = Components(read, lambda each: component(dict(each), {}, Path("/somewhere")))
    searched.search(ComponentFilter.of("task", "acme", "action", "all"), cursors.Window())
    assert plans and all("listed_words" in plan for plan in plans), plans


@pytest.mark.faults
@pytest.mark.alone
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


def test_no_built_in_component_offers_what_forms_of_existing_clients_cannot_draw(shipped: Any) -> None:
    """The showcase of all props may."""
    window, undrawn, count = cursors.Window(limit=100), dict[str, list[str]](), 0
    while True:
        page = shipped.components(ComponentFilter.of(None, None, None, "all"), window)
        count += len(page.items)
        for info in page.items:
            if names := [prop["name"] for prop in info.props if not is_drawn(prop)]:
                undrawn[info.key] = names
        if not page.end_cursor:
            break
        window = cursors.Window(limit=100, after=page.end_cursor)
    assert count > 1_000
    assert list(undrawn) == ["sandbox-show-all-props"], undrawn


@pytest.fixture
def extended() -> Components:
    """Components of the app's own, and operations of its whole API."""
    return catalog_of(
        row("acme-zap", name="Zap things"),
        row("acme-find", name="Find", description="Finds things."),
        row("acme-api-things-list", name="List things", tag="Things"),
        row("acme-api-boxes-list", name="List boxes", tag="Boxes", description="All boxes with things."),
        row("acme-api-boxes-add", name="Add a box", tag="Boxes"),
    )


def test_operations_of_a_whole_api_come_after_the_apps_own_by_tag(extended: Components) -> None:
    everything = ["acme-find", "acme-zap", "acme-api-boxes-add", "acme-api-boxes-list", "acme-api-things-list"]
    assert keys(extended) == everything
    assert keys(extended, q="things") == ["acme-zap", "acme-find", "acme-api-things-list", "acme-api-boxes-list"]
    assert extended.tags(["acme-zap", "acme-api-boxes-add", "none"]) == {"acme-api-boxes-add": "Boxes"}
    assert sorted(extended.keys("acme")) == sorted(everything)


@pytest.mark.parametrize("q", [None, "things"])
def test_they_are_turned_page_by_page_in_both_directions(extended: Components, q: str | None) -> None:
    expected = keys(extended, q=q)
    seen, after = list[str](), None
    while True:
        page = extended.search(ComponentFilter.of(q, "acme", None, "all"), cursors.Window(2, after))
        seen += [item.key for item in page.items]
        if not (after := page.end_cursor):
            break
    assert seen == expected
    before = extended.search(ComponentFilter.of(q, "acme", None, "all"), cursors.Window(2, None, page.start_cursor))
    assert before.total_count == len(expected)
    assert [item.key for item in before.items] == seen[: -len(page.items)][-2:]


def test_agents_find_them_by_a_search_only(extended: Components) -> None:
    names = extended.tool_names
    assert [action.key for action in names.of_apps(("acme",))] == ["acme-find", "acme-zap"]
    assert names.of_name("acme_api_boxes_add") == names.of_key("acme-api-boxes-add") is not None
    assert names.is_searched(("acme",)) and names.is_searched(()) and not names.is_searched(("globex",))
