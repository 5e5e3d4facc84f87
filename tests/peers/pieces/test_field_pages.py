"""Fields of pieces by their pages alone: each kind is filled in as a person does, and arrives as the piece knows it.

Notion is played from its public reference, https://developers.notion.com/reference.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.peers.pieces import owner
from tests.peers.pieces.conftest import Ours, Registry
from tests.peers.pieces.owner import Owner

pytestmark = pytest.mark.peer
Contexts = Callable[..., Any]
ADDRESS = "File: address of a file"
TEXTS = {
    "Short": "a", "Number": "2.5", "Day": "2026-01-02T03:04:05+01:00", "Colour": "#ff0000",
    "Rows": '[{"key": "k", "count": "3"}]', "JSON": '{"list": [1, 2]}', "Shape": '{"sides": 3}',
    ADDRESS: "https://api.workbench.example/public.txt", "Title": "Paint", "Amount": "3.5",
}  # fmt: skip
ARRIVED = {
    "short": "a", "long": "b\nc", "number": 2.5, "tick": True, "day": "2026-01-02T02:04:05.000Z", "colour": "#ff0000",
    "one": "red", "several": ["red", "green"], "table": "t0",
    "views": [{"id": "v1", "name": "All"}, {"id": "v2", "name": "Open"}], "words": ["x", "y"],
    "rows": [{"key": "k", "count": 3}], "object": {"a": "1"}, "json": {"list": [1, 2]}, "shape": {"sides": 3},
    "file": {"filename": "public.txt", "extension": "txt", "base64": "Zm9yIGV2ZXJ5Ym9keQ=="},
    "cells": {
        "title": "Paint", "amount": 3.5, "urgent": True, "shade": "green", "tags": ["t"],
        "owner": {"id": "p2", "name": "Grace"},
    },
}  # fmt: skip


def test_the_fields_of_a_database_of_notion_follow_and_arrive(registry: Registry, contexts: Contexts) -> None:
    bench = registry.bench
    person = Owner(bench, contexts, owner.create(bench))
    bench.account(person.id, "notion_access_token", {"access_token": "secret-alice"})
    person.open("/apps/notion_access_token/actions/notion_access_token-create-database-item-2")
    person.choose("Database", "Tasks")
    person.page.get_by_role("status").get_by_text("Fields updated: added Name, Done, Size").wait_for()
    person.fold_out()
    person.field("Name").fill("Paint the boat")
    person.field("Size").fill("4")
    person.field("Done").select_option("true")
    bench.web.asked.clear()
    person.run()
    (sent,) = [asked.body for asked in bench.web.asked if asked.place == "POST /v1/pages"]
    assert sent["parent"]["database_id"] == "db-1"
    assert sent["properties"]["Name"]["title"][0]["text"]["content"] == "Paint the boat"
    assert (sent["properties"]["Done"], sent["properties"]["Size"]) == ({"checkbox": True}, {"number": 4})


def test_what_is_filled_in_while_fields_follow_stays(ours: Ours, contexts: Contexts) -> None:
    """A provider may take seconds to say what follows, and people go on meanwhile."""
    person = Owner(ours.bench, contexts, owner.create(ours.bench))
    ours.bench.account(person.id, "workbench", {"oauth_access_token": "token-alice", "tenant": "acme"})
    person.open("/apps/workbench/actions/workbench-every-prop")
    page, held = person.page, list[Any]()
    page.route("**/fields", lambda route: held.append(route))
    person.fold_out()
    person.field("Long").fill("before")
    with page.expect_request("**/fields"):
        person.choose("Table", "Tasks")
    for label in ("Short", "Long", ADDRESS):
        person.field(label).fill("meanwhile")
    person.field("Tick").check()
    person.field("One").select_option(label="Green")
    held[0].continue_()
    page.get_by_role("status").get_by_text("Fields updated: added Title").wait_for()
    assert [person.field(label).input_value() for label in ("Short", "Long", ADDRESS)] == ["meanwhile"] * 3
    assert person.field("Tick").is_checked()
    assert "Green" in person.field("One").input_value()


def test_every_kind_is_filled_in_and_arrives(ours: Ours, contexts: Contexts, axe: Any) -> None:
    person = Owner(ours.bench, contexts, owner.create(ours.bench))
    ours.bench.account(person.id, "workbench", {"oauth_access_token": "token-alice", "tenant": "acme"})
    person.open("/apps/workbench/actions/workbench-every-prop")
    page = person.page
    page.get_by_text("Read the manual (https://workbench.example/manual) first.").wait_for()
    person.choose("Table", "Tasks", query="tas")
    page.get_by_role("status").get_by_text("Fields updated: added Title").wait_for()
    person.fold_out()
    for label, text in TEXTS.items():
        person.field(label).fill(text)
    person.field("Long").fill("b\nc")
    person.field("Tick").check()
    person.field("Urgent").select_option("true")
    person.field("One").select_option(label="Red")
    person.field("Shade").select_option(label="Green")
    for label in ("Red", "Green"):
        page.get_by_role("group", name="Several").get_by_label(label).check()
    person.choose("Views", "All", "Open")
    person.choose("Owner", "Grace", query="gra")
    for label, words in (("Words", "xy"), ("Tags", "t")):
        for word in words:
            person.field(label).fill(word)
            page.keyboard.press("Enter")
    rows = page.get_by_role("group", name="Object")
    rows.get_by_label("Name 1").fill("a")
    rows.get_by_label("Value 1").fill("1")
    assert axe(page) == []
    person.run()
    arrived = page.evaluate("JSON.parse(document.getElementById('result-json').textContent)")
    assert arrived == ARRIVED
