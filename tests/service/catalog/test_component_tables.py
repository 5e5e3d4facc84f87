"""What a build writes of components: every version, each listed once in order, its words, and its other names."""

import json
import sqlite3
from typing import Any

import pytest
from sqlite_utils import Database

from tests.service.catalog.test_component_search import APPS, row
from webapp.kit.crypto import stable_id
from webapp.service.catalog import component_tables


@pytest.fixture
def database() -> Database:
    made = Database(sqlite3.connect(":memory:"))
    component_tables.create(made)
    return made


UNSAID = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True}


def test_the_component_object_is_the_one_of_the_specification(database: Database) -> None:
    props = [{"name": "title", "type": "string"}]
    rows = [row("acme-do", configurable_props=json.dumps(props), stash="optional"), row("acme-up", kind="trigger")]
    component_tables.write(database, rows, APPS)
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
    component_tables.write(database, rows, APPS)
    assert {each["id"] for each in database["components"].rows} == {
        stable_id("sc", each["key"], each["version"]) for each in rows
    }
    assert [(each["n"], each["key"], each["version"]) for each in database["listed"].rows] == [
        (1, "globex-do", "1.0.0"), (2, "~/do", "1.0.0"), (3, "acme-do", "1.10.0"),
    ]  # fmt: skip


def test_words_are_those_of_its_highest_release_and_names_those_of_its_app(database: Database) -> None:
    known = '{"names": ["make"], "props": {}}'
    rows = [row("acme-do", "1.0.0", name="Zip"), row("acme-do", "2.0.0", name="Ääh", aliases=known)]
    component_tables.write(database, rows, APPS)
    count = "SELECT count(*) FROM listed_words WHERE listed_words MATCH ?"
    assert [database.execute(count, [word]).fetchone()[0] for word in ("aah", "acme", "does", "zip")] == [1, 1, 1, 0]
    assert {each["other"]: each["key"] for each in database["other_keys"].rows} == dict.fromkeys(
        ("acme-make", "acme_v2-do", "acme_v2-make"), "acme-do"
    )
