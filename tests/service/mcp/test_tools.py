"""Which tools are listed: all of a few, in pages; of many those that were used lately; and our own, as strict clients
take them.
"""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.fakes.openapi_documents import root
from webapp.service.catalog.importing.extensions import Choice, Extended, Origin, extend
from webapp.service.catalog.spec import ApiDocument
from webapp.service.components.tool_names import RESERVED
from webapp.service.domain.agents import permissions
from webapp.service.domain.base import catalog_file
from webapp.service.mcp import protocol, tools


def test_each_is_reserved_and_strict() -> None:
    own = tools.own_tools(searched=True)
    assert {tool["name"] for tool in own} == RESERVED
    assert len(tools.own_tools(searched=False)) == 3
    for tool in own:
        Draft202012Validator.check_schema(tool["inputSchema"])


def test_tools_are_listed_page_by_page(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.mcp.tools.PAGE", 3)
    agent = world.agent(apps="tinykeys")
    first = agent.ask("tools/list")
    assert len(first["tools"]) == 3 and first["nextCursor"]
    assert sorted(agent.tools()) == list(agent.tools()) and len(agent.tools()) > 3
    assert agent.send("tools/list", {"cursor": "€"}).get_json()["error"]["code"] == protocol.INVALID_PARAMS


def test_each_tool_is_such_as_strict_clients_take(world: Any) -> None:
    tools = world.agent(apps="tinykeys").tools()
    for tool in tools.values():
        Draft202012Validator.check_schema(tool["inputSchema"])
        assert tool["inputSchema"]["type"] == "object" and len(tool["name"]) <= 64
    made = tools["make_task"]
    assert (made["title"], made["description"]) == ("Make task", "Makes a task in a project.")
    assert made["annotations"]["destructiveHint"] is False and made["annotations"]["title"] == "Make task"


def test_of_many_tools_those_are_listed_that_were_used_lately(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.mcp.tools.MAX_LISTED", 2)
    agent = world.agent()
    assert agent.tools().keys() == RESERVED
    agent.call("every_type", number=3)
    assert agent.tools().keys() == RESERVED | {"every_type"}
    assert world.agent("bob").tools().keys() == RESERVED


def test_an_action_that_the_person_switched_off_is_as_if_it_were_not_there(world: Any) -> None:
    agent, before = world.agent(apps="tinykeys"), world.agent(apps="tinykeys").tools()
    component = world.service.catalog.component("~/make-task")
    permissions.set_action(world.service, world.scene, "alice", component, "off")
    assert agent.tools().keys() == before.keys() - {"make_task"}
    assert world.agent("bob", apps="tinykeys").tools() == before
    for method in ("make_task", "list_options", "begin_configuration", "run_tool"):
        answers = [
            agent.send("tools/call", {"name": method, "arguments": {"tool": tool, "prop": "a"}})
            if method != "make_task"
            else agent.send("tools/call", {"name": tool, "arguments": {}})
            for tool in ("make_task", "nothing")
        ]
        assert answers[0].get_json()["error"] == answers[1].get_json()["error"]
        assert len({(answer.status_code, len(answer.data)) for answer in answers}) == 1
    assert "make_task" not in agent.text("search_tools", query="make task")
    permissions.set_app(world.service, world.scene, "alice", "tinykeys", "off")
    assert agent.tools().keys() == RESERVED - {"run_tool", "search_tools"}


def test_a_list_is_as_long_as_a_model_reads_and_the_next_page_has_the_rest(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = world.agent()
    every = set(agent.tools())
    monkeypatch.setattr(tools, "MAX_LIST_BYTES", 3_000)
    page = agent.ask("tools/list")
    assert 0 < len(page["tools"]) < len(every) and len(json.dumps(page["tools"])) <= 3_100 and page["nextCursor"]
    assert set(agent.tools()) == every, "all pages together"
    found = agent.call("search_tools", query="task", limit=20)["structuredContent"]["tools"]
    assert len(found) < 20 and len(json.dumps(found)) <= 3_100
    monkeypatch.setattr(tools, "MAX_LIST_BYTES", 1)
    assert len(agent.ask("tools/list")["tools"]) == 1


def test_operations_of_a_whole_api_are_found_by_a_search_only_and_run(world: Any) -> None:
    service, app = world.service, world.service.catalog.app("tinykeys")
    paths = {"/pets": {"get": {"operationId": "listPets", "summary": "List pets", "tags": ["Pets"]}}}
    text = json.dumps(root(paths, servers=[{"url": app.spec.base_url}])).encode()
    source = {"source": "https://acme.example", "read_on": "2026-11-28"}
    facts = ApiDocument.model_validate({"package": "npm:acme", "path": "openapi.json", **source})
    origin = Origin("npm:acme", "1.0.0", "sha512-AAAA", "openapi.json")
    extend(service.settings.data, Extended(app.spec, ()), facts, origin, text, Choice(("Pets",)))
    catalog_file.update(service)
    service.catalog.refresh()
    world.account()
    agent = world.agent(apps="tinykeys")
    listed = agent.tools()
    assert "search_tools" in listed and "tinykeys_api_list_pets" not in listed
    (tool,) = agent.call("search_tools", query="list pets")["structuredContent"]["tools"]
    assert tool["name"] == "tinykeys_api_list_pets" and tool["annotations"]["readOnlyHint"]
    assert '"name":"Ada"' in agent.text("run_tool", tool=tool["name"], arguments={}).replace(" ", "")
    assert "tinykeys_api_list_pets" not in agent.tools()
