"""Finding components: by key, id and version; searched, filtered and paged."""

import json
from pathlib import Path
from typing import Any

import pytest

from webapp.kit import cursors
from webapp.kit.crypto import stable_id
from webapp.service.catalog.components import ComponentFilter, ComponentInfo, Components, component, release

UNSAID = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True}


def one(key: str, version: str = "1.0.0", **facts: Any) -> ComponentInfo:
    app = facts.pop("app", key.split("-")[0])
    row = {
        "key": key, "version": version, "kind": "action", "name": key.split("-", 1)[-1].replace("-", " ").title(),
        "description": "Does it.", "configurable_props": "[]", "annotations": "{}", "has_reload": 0, "stash": None,
        "dedupe": None, "hooks": "[]",
        "root": None, "path": f"{key}/{version}.py", "app": app,
    }  # fmt: skip
    return component({**row, **facts}, app and app.title(), Path("/somewhere"))


@pytest.fixture
def found() -> Components:
    return Components(
        [
            one("globex-create-task", "1.0.0"),
            one("globex-create-task", "1.10.0", name="Create Task"),
            one("globex-create-task", "1.9.0"),
            one("acme-launch-rocket", description="Sends a rocket up, with its crew."),
            one("acme-new-launch", kind="trigger"),
            one("~/greet", app=None, name="Ärger vermeiden"),
        ]
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
    assert found.get(older.id, "1.9.0") is older
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


def test_the_component_object_is_the_one_of_the_specification() -> None:
    props = [{"name": "title", "type": "string"}]
    shown = json.loads(one("acme-do", configurable_props=json.dumps(props), stash="optional").json)
    assert shown == {
        "key": "acme-do", "name": "Do", "version": "1.0.0", "configurable_props": props, "description": "Does it.",
        "component_type": "action", "annotations": {"title": "Do", **UNSAID}, "stash": "optional",
    }  # fmt: skip
    watcher = json.loads(one("acme-up", kind="trigger").json)
    assert (watcher["component_type"], "stash" in watcher) == ("trigger", False)


def test_a_version_is_three_numbers() -> None:
    assert release("1.10.0") > release("1.9.9")
    for wrong in ("1", "1.0", "1.0.0-beta", "01.0.0", "1.0.0 "):
        with pytest.raises(ValueError, match="not a version"):
            release(wrong)
