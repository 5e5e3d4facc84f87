"""Finding tools by what they do."""

from typing import Any

import pytest

from webapp.service.mcp import searching


def search(agent: Any, query: str, **more: Any) -> list[str]:
    found = agent.call("search_tools", query=query, **more).get("structuredContent", {"tools": []})
    return [tool["name"] for tool in found["tools"]]


def test_tools_are_found_by_words_the_one_with_the_name_first(world: Any) -> None:
    agent = world.agent()
    assert search(agent, "make task")[0] == "make_task"
    assert search(agent, "make task right away please") == search(agent, "make task")
    assert len(search(agent, "a", limit=1)) == 1
    assert search(agent, "nonsense") == []
    assert search(world.agent(apps="tinyoauth"), "make task") == []


def test_what_is_asked_wrongly_is_told(world: Any) -> None:
    agent = world.agent()
    assert agent.text("search_tools", query=" ").startswith("query is missing")
    assert agent.text("search_tools", query="a", limit=99).startswith("limit is not valid")


def test_tools_of_connected_apps_come_first(world: Any) -> None:
    agent, query = world.agent(), "create issue"
    assert search(agent, query, limit=20).index("linear_create_issue") > 0
    world.plant("alice", app="linear", values={})
    assert search(agent, query, limit=20)[0] == "linear_create_issue"


def test_so_many_words_are_searched_for_and_no_more(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = list[str]()

    def matching(_call: Any, query: str, _box: Any) -> list[Any]:
        queries.append(query)
        return []

    monkeypatch.setattr(searching, "_matching", matching)
    assert search(world.agent(), "x " * 10_000) == []
    assert len(queries) == searching.MAX_WORDS
