"""Notion's trigger, against a fake written from https://developers.notion.com/reference/query-a-data-source."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked

SOURCE = {"object": "data_source", "id": "ds2", "properties": {}}


@pytest.fixture
def notion(desk_of: Callable[..., AppHarness]) -> AppHarness:
    harness = desk_of("notion", oauth_access_token="ntn_1")
    harness.on("GET /v1/data_sources/ds2", SOURCE)
    return harness


def item(number: int) -> dict[str, Any]:
    """A page; Notion tells the minute of its creation alone, so two may bear one time."""
    title = {"id": "title", "type": "title", "title": [{"plain_text": f"Task {number}"}]}
    at = f"2026-05-01T08:{number // 2:02}:00.000Z"
    return {"object": "page", "id": f"i{number}", "created_time": at, "properties": {"Name": title}}


def serve(notion: AppHarness, count: int) -> None:
    def query(asked: Asked) -> dict[str, Any]:
        assert asked.json["sorts"] == [{"timestamp": "created_time", "direction": "descending"}]
        since = asked.json.get("filter", {}).get("created_time", {}).get("on_or_after", "")
        rows = [item(number) for number in reversed(range(count)) if item(number)["created_time"] >= since]
        return {"results": rows[: asked.json["page_size"]], "next_cursor": None}

    notion.on("POST /v1/data_sources/ds2/query", query)


def test_new_items_of_one_of_several_data_sources_are_emitted_once(notion: AppHarness) -> None:
    serve(notion, 7)
    trigger = notion.trigger("new-database-item", database_id="ds2")
    assert [event.summary for event in trigger.deploy()] == ["Task 2", "Task 3", "Task 4", "Task 5", "Task 6"]
    assert trigger.tick() == []
    serve(notion, 9)  # the first of them was created in the minute of the last one seen
    assert [(event.id, event.summary) for event in trigger.tick()] == [("i7", "Task 7"), ("i8", "Task 8")]
    assert trigger.tick() == []
