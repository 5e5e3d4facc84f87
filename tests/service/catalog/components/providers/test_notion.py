"""Notion's actions, against a fake written from https://developers.notion.com/reference, version 2026-03-11."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked


def page(id: str, title: str) -> dict[str, Any]:
    texts = [{"type": "text", "plain_text": title}]
    return {
        "object": "page",
        "id": id,
        "url": f"https://www.notion.so/{id}",
        "properties": {"Name": {"id": "title", "type": "title", "title": texts}},
    }


def listing(*results: Any, after: str | None = None) -> dict[str, Any]:
    return {"object": "list", "results": list(results), "has_more": after is not None, "next_cursor": after}


SOURCE = {
    "object": "data_source",
    "id": "ds1",
    "parent": {"type": "database_id", "database_id": "db1"},
    "created_time": "2026-05-01T08:00:00.000Z",
    "title": [{"type": "text", "plain_text": "Tasks"}],
    "properties": {
        "Done": {"id": "a%3D", "name": "Done", "type": "checkbox", "checkbox": {}},
        "Name": {"id": "title", "name": "Name", "type": "title", "title": {}},
        "Stage": {"id": "s", "name": "Stage", "type": "select", "select": {"options": [{"name": "Open"}]}},
        "Tags": {"id": "t", "name": "Tags", "type": "multi_select", "multi_select": {"options": []}},
        "Cost": {"id": "c", "name": "Cost", "type": "number", "number": {"format": "euro"}},
        "Due": {"id": "d", "name": "Due", "type": "date", "date": {}},
        "Sum": {"id": "f", "name": "Sum", "type": "formula", "formula": {"expression": "1"}},
    },
}


@pytest.fixture
def notion(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("notion", oauth_access_token="ntn_1")
    made.on("GET /v1/data_sources/ds1", SOURCE)
    return made


def database(*sources: dict[str, str]) -> dict[str, Any]:
    """A database, which names its data sources and holds no properties (developers.notion.com/reference/database)."""
    return {"object": "database", "id": "db1", "data_sources": list(sources)}


def test_it_speaks_the_version_it_was_written_for(notion: AppHarness) -> None:
    assert notion.app.spec.headers == {"Notion-Version": "2026-03-11"}


def test_pages_are_searched_for_and_come_page_by_page(notion: AppHarness) -> None:
    def search(asked: Asked) -> Any:
        assert asked.json["filter"] == {"property": "object", "value": "page"}
        more = "start_cursor" not in asked.json
        return listing(page("p1", "Plans") if more else page("p2", ""), after="next" if more else None)

    notion.on("POST /v1/search", search)
    first = notion.options("append-text", "page_id", query="plan")
    assert first == {"found": {"Plans": "p1"}, "context": {"cursor": "next"}}
    assert notion.last.json["query"] == "plan"
    second = notion.options("append-text", "page_id", page=1, previous=first["context"])
    assert second == {"found": {"Untitled": "p2"}, "context": None}
    assert notion.options("append-text", "page_id", page=2)["found"] == {}


def test_databases_are_offered_by_their_titles(notion: AppHarness) -> None:
    archive = {**SOURCE, "id": "ds2", "title": [{"plain_text": "Archive"}]}
    notion.on("POST /v1/search", listing(SOURCE, archive))
    assert notion.options("query-database", "database_id")["found"] == {"Tasks": "ds1", "Archive": "ds2"}
    assert notion.last.json["filter"]["value"] == "data_source"


def test_a_page_is_created_with_its_text(notion: AppHarness) -> None:
    notion.on("POST /v1/pages", page("p9", "News"))
    notion.run("create-page", parent_id="p1", title="News", content="# Today\n\n- one\nplain")
    asked = notion.last.json
    assert asked["parent"] == {"page_id": "p1"}
    assert asked["properties"]["title"]["title"][0]["text"]["content"] == "News"
    assert [one["type"] for one in asked["children"]] == ["heading_1", "bulleted_list_item", "paragraph"]
    assert asked["children"][0]["heading_1"]["rich_text"][0]["text"]["content"] == "Today"


def test_a_long_page_is_created_in_steps(notion: AppHarness) -> None:
    notion.on("POST /v1/pages", page("p9", "Long"))
    notion.on("PATCH /v1/blocks/p9/children", listing())
    notion.run("create-page", parent_id="p1", title="Long", content="line\n" * 250)
    assert [len(one.json["children"]) for one in notion.provider.asked] == [100, 100, 50]


def test_text_is_appended_in_pieces_that_notion_takes(notion: AppHarness) -> None:
    notion.on("PATCH /v1/blocks/p1/children", listing())
    assert notion.run("append-text", page_id="p1", content="x" * 4001).exports["$summary"] == "Appended 1 block"
    pieces = notion.last.json["children"][0]["paragraph"]["rich_text"]
    assert [len(one["text"]["content"]) for one in pieces] == [2000, 2000, 1]
    assert notion.refuses("append-text", page_id="p1", content=" \n") == "There is nothing to append. Write some text."


def test_the_properties_of_the_database_become_props(notion: AppHarness) -> None:
    props = notion.reload("create-database-item", database_id="ds1")[1:]
    shown = {one["label"]: one for one in props}
    assert list(shown) == ["Name", "Done", "Stage", "Tags", "Cost", "Due"]  # the title first, nothing computed
    assert not shown["Name"].get("optional")
    assert (shown["Done"]["name"], shown["Done"]["type"]) == ("property_a_253D", "boolean")
    assert shown["Stage"]["options"] == [{"label": "Open", "value": "Open"}]
    assert shown["Tags"]["type"] == "string[]"
    assert "options" not in shown["Tags"]


def test_an_item_is_created_with_its_properties(notion: AppHarness) -> None:
    notion.on("POST /v1/pages", page("i1", "Ship"))
    given = {"property_title": "Ship", "property_a_253D": False, "property_s": "Open", "property_t": ["x"]}
    reply = notion.run("create-database-item", database_id="ds1", **given, property_c="12.50", property_d="2026-05-31")
    assert reply.exports["$summary"] == "Created the item Ship"
    asked = notion.last.json
    assert asked["parent"] == {"type": "data_source_id", "data_source_id": "ds1"}
    assert asked["properties"].pop("title")["title"][0]["text"]["content"] == "Ship"
    assert asked["properties"] == {
        "a%3D": {"checkbox": False},
        "s": {"select": {"name": "Open"}},
        "t": {"multi_select": [{"name": "x"}]},
        "c": {"number": 12.5},
        "d": {"date": {"start": "2026-05-31"}},
    }
    sentence = notion.refuses("create-database-item", database_id="ds1", property_title="x", property_c="many")
    assert sentence == "many is not a number. Write one such as 12.5."


def test_a_database_is_read_until_there_is_enough(notion: AppHarness) -> None:
    notion.on(
        "POST /v1/data_sources/ds1/query",
        lambda asked: listing(*[page("p", "x")] * asked.json["page_size"], after="next"),
    )
    wanted = {"property": "Done", "checkbox": {"equals": True}}
    assert len(notion.run("query-database", database_id="ds1", filter=wanted, most=130).value) == 130
    _, first, second = notion.provider.asked
    assert (first.json, second.json["page_size"]) == ({"filter": wanted, "page_size": 100}, 30)
    assert second.json["start_cursor"] == "next"


def test_a_search_finds_both_kinds(notion: AppHarness) -> None:
    notion.on("POST /v1/search", listing(page("p1", "Plans"), SOURCE))
    assert [(one["object"], one["title"]) for one in notion.run("search").value] == [
        ("page", "Plans"),
        ("data_source", "Tasks"),
    ]
    assert "filter" not in notion.last.json
    notion.run("search", kind="database")
    assert notion.last.json["filter"] == {"property": "object", "value": "data_source"}


def test_the_id_of_a_database_with_one_data_source_continues_working(notion: AppHarness) -> None:
    notion.on("GET /v1/databases/db1", database({"id": "ds1", "name": "Tasks"}))
    notion.on("POST /v1/data_sources/ds1/query", listing(page("i1", "Ship")))
    assert [item["id"] for item in notion.run("query-database", database_id="db1").value] == ["i1"]
    assert len(notion.reload("create-database-item", database_id="db1")) == 7


def test_of_several_data_sources_one_has_to_be_chosen(notion: AppHarness) -> None:
    notion.on("GET /v1/databases/db1", database({"id": "ds1", "name": "Tasks"}, {"id": "ds2", "name": "Archive"}))
    assert notion.refuses("query-database", database_id="db1") == (
        "This database has several data sources: Tasks, Archive. Choose one of them as the database."
    )
    notion.on("GET /v1/databases/db1", database())
    assert "None of this database's data sources was shared" in notion.refuses("query-database", database_id="db1")
    assert "404" in notion.refuses("query-database", database_id="gone")
