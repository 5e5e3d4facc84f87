"""Building is deterministic, whole or not at all, and done again exactly when a source changed. All
tables are made, slugs are unique, and what is searched has a column.

What a build writes of components: every version, each listed once in order, its words, and its other names.

The fingerprint changes with each byte of a source, and with nothing else.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from tests.service.catalog.samples import DO, KEYS, OAUTH, bare, write, write_component, write_two_apps
from tests.service.catalog.test_components import APPS, row
from webapp.errors import Unavailable
from webapp.kit.crypto import stable_id
from webapp.service.catalog import build as building
from webapp.service.catalog.build import build, create_tables, ensure
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Files, Places
from webapp.service.components.calls import Call, Reply
from webapp.service.components.runner import Runner

Declare = Callable[[str, str], Path]


def dump(path: Path) -> list[str]:
    """Everything in the database at ``path``."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_the_catalog_that_tests_copy_is_not_built_again(built_catalog: Path, data: Path) -> None:
    """Otherwise hundreds of tests would each build it."""
    assert not ensure(Path(shutil.copy(built_catalog, data)), Places.of(data)).built


def test_same_sources_give_the_same_catalog(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("globex", OAUTH)
    declare("acme", KEYS)
    first = build(tmp_path / "one.db", Places(built_in=folder))
    moved = tmp_path / "elsewhere"
    folder.rename(moved)
    second = build(tmp_path / "two.db", Places(built_in=moved))
    assert first == second
    assert (first.apps, first.problems, first.built) == (2, (), True)
    assert dump(tmp_path / "one.db") == dump(tmp_path / "two.db")


def test_ensure_builds_only_when_something_changed(folder: Path, declare: Declare, tmp_path: Path) -> None:
    target, own = tmp_path / "data" / "catalog.db", tmp_path / "own"
    file = declare("acme", KEYS)
    assert ensure(target, Places([own], folder)).built
    before = target.stat().st_ino
    report = ensure(target, Places([own], folder))
    assert (report.built, report.apps, target.stat().st_ino) == (False, 1, before)

    file.write_text(KEYS.replace("Rockets", "Springs"), "utf-8")
    assert ensure(target, Places([own], folder)).built
    assert not ensure(target, Places([own], folder)).built

    (own / "plain").mkdir(parents=True)
    (own / "plain" / "app.toml").write_text(bare("plain", "Plain"), "utf-8")
    assert ensure(target, Places([own], folder)).apps == 2

    write_component(folder, "acme/actions/launch/1.0.0.py")
    assert ensure(target, Places([own], folder)).built
    assert not ensure(target, Places([own], folder)).built


def test_ensure_keeps_telling_of_problems(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS.replace("anvils.", "anvils"))
    declare("globex", OAUTH)
    first = ensure(tmp_path / "catalog.db", Places(built_in=folder))
    again = ensure(tmp_path / "catalog.db", Places(built_in=folder))
    assert (first.apps, again.apps, again.built) == (1, 1, False)
    assert (
        first.problems
        == again.problems
        == ("acme/app.toml: the description must be a sentence that ends with a full stop.",)
    )


def test_ensure_replaces_what_is_no_catalog(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    target = tmp_path / "catalog.db"
    for garbage in (b"", b"not a database at all" * 100):
        target.write_bytes(garbage)
        assert ensure(target, Places(built_in=folder)).built
        assert not ensure(target, Places(built_in=folder)).built


def test_a_new_schema_is_a_change(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure(tmp_path / "catalog.db", Places(built_in=folder))
    monkeypatch.setattr(building, "VERSION", building.VERSION + 1)
    assert ensure(tmp_path / "catalog.db", Places(built_in=folder)).built


def test_a_build_that_fails_leaves_the_old_catalog(
    folder: Path, declare: Declare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare("acme", KEYS)
    target = tmp_path / "catalog.db"
    build(target, Places(built_in=folder))
    before = target.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    declare("globex", OAUTH)
    monkeypatch.setattr(building, "_app_facts", fail)
    with pytest.raises(OSError, match="no space left"):
        build(target, Places(built_in=folder))
    assert target.read_bytes() == before
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".catalog")] == []


def test_an_open_catalog_outlives_a_rebuild(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    target = tmp_path / "catalog.db"
    build(target, Places(built_in=folder))
    catalog = Catalog.open(target, public_url="http://localhost:8000")
    declare("globex", OAUTH)
    build(target, Places(built_in=folder))
    assert [app.slug for app in catalog.search(q="a").items] == ["acme"]
    assert catalog.apps(["acme"])[0].spec.fields[1].secret
    assert catalog.app("globex") is None
    catalog.close()


def test_components_are_listed_and_counted(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    for name in ("actions/launch/1.0.0.py", "actions/launch/1.1.0.py", "actions/land/1.0.0.py"):
        write_component(folder, f"acme/{name}")
    write_component(folder, "acme/triggers/up/0.1.0.py", "Trigger")
    report = build(tmp_path / "catalog.db", Places(built_in=folder))
    assert report.problems == ()
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection:
        rows = connection.execute("SELECT key, version, kind, app FROM components ORDER BY key, version").fetchall()
        counts = connection.execute("SELECT actions, triggers FROM apps").fetchall()
    assert rows == [
        ("acme-land", "1.0.0", "action", "acme"),
        ("acme-launch", "1.0.0", "action", "acme"),
        ("acme-launch", "1.1.0", "action", "acme"),
        ("acme-up", "0.1.0", "trigger", "acme"),
    ]
    assert counts == [(2, 1)]


def test_a_component_that_cannot_be_loaded_is_left_out_alone(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    write_component(folder, "acme/actions/good/1.0.0.py")
    write_component(folder, "acme/actions/trigger-here/1.0.0.py", "Trigger")
    write_component(folder, "acme/actions/bad-name/1.py")
    write_component(folder, "acme/actions/empty/1.0.0.py").write_text("", "utf-8")
    write_component(folder, "acme/actions/broken/1.0.0.py").write_text("def (:", "utf-8")
    report = build(tmp_path / "catalog.db", Places(built_in=folder))
    said = {problem.split(": ")[0]: problem for problem in report.problems}
    assert set(said) == {
        f"acme/actions/{name}" for name in
        ("bad-name/1.py", "broken/1.0.0.py", "empty/1.0.0.py", "trigger-here/1.0.0.py")
    }  # fmt: skip
    assert "stands in the folder of actions" in said["acme/actions/trigger-here/1.0.0.py"]
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection:
        assert connection.execute("SELECT key FROM components").fetchall() == [("acme-good",)]
        assert connection.execute("SELECT actions FROM apps").fetchall() == [(1,)]


def test_what_did_not_change_is_not_loaded_again(
    folder: Path, declare: Declare, tmp_path: Path, runner: Runner
) -> None:
    declare("acme", KEYS)
    declare("globex", OAUTH)
    asked: list[str] = []

    def ask(call: Call) -> Reply:
        asked.append("/".join(Path(call.path).parts[-4:-1]))
        return runner.call(call)

    def built() -> list[str]:
        asked.clear()
        build(tmp_path / "catalog.db", Places(built_in=folder), declare=ask)
        return sorted(asked)

    write_component(folder, "acme/actions/launch/1.0.0.py")
    write_component(folder, "globex/actions/land/1.0.0.py")
    launch, land = "acme/actions/launch", "globex/actions/land"
    assert (built(), built()) == ([launch, land], [])
    before = dump(tmp_path / "catalog.db")
    (folder / "acme" / "common.py").write_text("VALUE = 1", "utf-8")  # which the app's components may import
    assert built() == [launch]
    assert [line for line in dump(tmp_path / "catalog.db") if '"components"' in line] == [
        line for line in before if '"components"' in line
    ]
    write_component(folder, "globex/actions/land/1.0.0.py", name="Land")
    assert built() == [land]
    (tmp_path / "catalog.db").write_bytes(b"no catalog")
    assert built() == [launch, land]


def test_without_a_runner_nothing_is_built(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    write_component(folder, "acme/actions/launch/1.0.0.py")
    gone = Runner.start()
    gone.close()
    with pytest.raises(Unavailable, match="runner"):
        build(tmp_path / "catalog.db", Places(built_in=folder), declare=gone.call)
    assert list(tmp_path.glob("*catalog*")) == []
    assert ensure(tmp_path / "catalog.db", Places(built_in=folder)).built


def test_the_operators_components_stand_beside_the_apps(folder: Path, declare: Declare, tmp_path: Path) -> None:
    declare("acme", KEYS)
    data = tmp_path / "data"
    own = data / "components"
    file = write_component(own, "greet/1.0.0.py")
    report = build(data / "catalog.db", Places((), folder, own))
    assert report.problems == ()
    assert not ensure(data / "catalog.db", Places((), folder, own)).built
    file.write_text(DO.format(base="Trigger", name="Watch"), "utf-8")
    assert ensure(data / "catalog.db", Places((), folder, own)).built
    moved = tmp_path / "moved"
    data.rename(moved)
    catalog = Catalog.open(moved / "catalog.db", public_url="http://localhost:8000")
    found = catalog.component("~/greet")
    assert found is not None
    assert (found.kind, found.app, found.own, found.path) == (
        "trigger", "acme", True, moved / "components" / "greet" / "1.0.0.py",
    )  # fmt: skip
    assert catalog.apps(["acme"])[0].actions == 0
    catalog.close()


def test_every_table_is_made_once() -> None:
    database = Database(memory=True)
    create_tables(database)
    tables = {
        "apps",
        "categories",
        "components",
        "declarations",
        "toml",
        "build",
        "listed",
        "listed_words",
        "other_keys",
        "unlisted",
        "tools",
        "tool_terms",
    }
    assert {name for name in database.table_names() if not name.startswith(("listed_words_", "tools_fts"))} == tables
    database.table("apps").insert({"id": 1, "slug": "acme"})
    with pytest.raises(sqlite3.IntegrityError):
        database.table("apps").insert({"id": 2, "slug": "acme"})


@pytest.fixture
def database() -> Database:
    made = Database(sqlite3.connect(":memory:"))
    building.create_component_tables(made)
    return made


UNSAID = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True}


def test_the_component_object_is_the_one_of_the_specification(database: Database) -> None:
    props = [{"name": "title", "type": "string"}]
    rows = [row("acme-do", configurable_props=json.dumps(props), stash="optional"), row("acme-up", kind="trigger")]
    building.write_components(database, rows, APPS)
    shown, watcher = (json.loads(each["json"]) for each in database["components"].rows)
    assert shown == {
        "key": "acme-do", "name": "Do", "version": "1.0.0", "configurable_props": props, "description": "Does it.",
        "component_type": "action", "annotations": {"title": "Do", **UNSAID}, "stash": "optional",
    }  # fmt: skip
    assert (watcher["component_type"], "stash" in watcher) == ("trigger", False)


def test_each_is_listed_once_in_the_order_of_lists(database: Database) -> None:
    rows: list[dict[str, Any]] = [
        row("acme-do", "1.9.0", name="Zip"), row("acme-do", "1.10.0", name="Éclair"), row("globex-do", name="Eagle"),
        row("~/do", app=None, name="Eagle"),
    ]  # fmt: skip
    building.write_components(database, rows, APPS)
    assert {each["id"] for each in database["components"].rows} == {
        stable_id("sc", each["key"], each["version"]) for each in rows
    }
    assert [(each["n"], each["key"], each["version"]) for each in database["listed"].rows] == [
        (1, "globex-do", "1.0.0"), (2, "~/do", "1.0.0"), (3, "acme-do", "1.10.0"),
    ]  # fmt: skip


def test_words_are_those_of_its_highest_release_and_names_those_of_its_app(database: Database) -> None:
    known = '{"names": ["make"], "props": {}}'
    rows = [row("acme-do", "1.0.0", name="Zip"), row("acme-do", "2.0.0", name="Ääh", aliases=known)]
    building.write_components(database, rows, APPS)
    count = "SELECT count(*) FROM listed_words WHERE listed_words MATCH ?"
    assert [database.execute(count, [word]).fetchone()[0] for word in ("aah", "acme", "does", "zip")] == [1, 1, 1, 0]
    assert {each["other"]: each["key"] for each in database["other_keys"].rows} == dict.fromkeys(
        ("acme-make", "acme_v2-do", "acme_v2-make"), "acme-do"
    )


@pytest.fixture
def fingerprinted(tmp_path: Path) -> Path:
    """Two apps, one with a component, and the categories."""
    return write_two_apps(tmp_path)


def digest(places: Places) -> str:
    return Files.of(places).digest


def test_the_fingerprint_changes_exactly_with_the_sources(fingerprinted: Path) -> None:
    before = digest(Places(built_in=fingerprinted))
    write(fingerprinted / "acme" / "notes.txt", "no source")
    assert digest(Places(built_in=fingerprinted)) == before
    seen = {before}
    for path, text in (("acme/actions/do-it/1.0.0.py", "2"), ("acme/actions/do-it/shared.py", ""), ("a/app.toml", "")):
        write(fingerprinted / path, text)
        seen.add(digest(Places(built_in=fingerprinted)))
    assert len(seen) == 4


def test_the_fingerprint_minds_names_and_folders_and_no_link_to_nowhere(fingerprinted: Path, tmp_path: Path) -> None:
    own = tmp_path / "own components"
    places = Places(built_in=fingerprinted, components=own)
    before = digest(places)
    assert digest(Places(built_in=fingerprinted)) == before, "a folder that is missing is an empty one"
    (fingerprinted / "acme" / "actions" / "do-it" / ".#1.0.0.py").symlink_to("nobody@here.1")
    assert digest(places) == before
    write(own / "mine" / "0.0.1.py", "1")
    seen = {before, digest(places)}
    (own / "mine").rename(own / "yours")
    seen.add(digest(places))
    (fingerprinted / "acme" / "actions" / "do-it").rename(fingerprinted / "acme" / "actions" / "do-that")
    seen.add(digest(places))
    assert len(seen) == 4


def test_it_covers_the_components_of_pieces_and_no_other_json(fingerprinted: Path, tmp_path: Path) -> None:
    pieces = tmp_path / "pieces" / "apps"
    places = Places(built_in=fingerprinted, pieces=pieces)
    write(pieces / "acme" / "app.toml", 'joins = "acme"')
    seen = {digest(places)}
    write(pieces / "acme" / "actions" / "do-more" / "1.0.0.json", "{}")
    seen.add(digest(places))
    write(fingerprinted / "acme" / "import.json", "{}")
    seen.add(digest(places))
    assert len(seen) == 2
