"""The arguments of a tool: every type of prop as JSON Schema that strict clients validate, the account that it works
with, nobody else's, and the request of its action.
"""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from webapp.service.mcp.arguments import MAX_CHOICES, MAX_SCHEMA, has_lookup, input_schema, trimmed

PROPS: list[dict[str, Any]] = [
    {"name": "note", "type": "alert", "content": "Mind the gap."},
    {"name": "account", "type": "app", "app": "tinykeys"},
    {"name": "title", "type": "string", "label": "Title", "description": "What it is called."},
    {"name": "kind", "type": "string", "optional": True, "options": [{"label": "Open", "value": "o"}, "closed"]},
    {"name": "project", "type": "string", "remoteOptions": True},
    {"name": "size", "type": "integer", "min": 1, "max": 9, "default": 3},
    {"name": "sizes", "type": "integer[]", "min": 1, "optional": True, "options": [1, 2]},
    {"name": "tags", "type": "string[]", "optional": True},
    {"name": "urgent", "type": "boolean", "optional": True},
    {"name": "fields", "type": "object", "optional": True},
    {"name": "value", "type": "any", "optional": True},
    {"name": "statement", "type": "sql", "optional": True},
    {"name": "request", "type": "http_request", "optional": True},
    {"name": "file", "type": "string", "format": "file-ref", "optional": True},
    {"name": "inner", "type": "string", "hidden": True},
    {"name": "fixed", "type": "string", "readOnly": True},
    {"name": "memory", "type": "$.service.db"},
    {"name": "channels", "type": "$.discord.channel[]", "optional": True},
]
GOOD = {"title": "A", "project": "p1"}


def test_it_asks_for_what_a_person_would_fill_in() -> None:
    schema = input_schema(PROPS, reloads=False)
    Draft202012Validator.check_schema(schema)
    unasked = {"note", "account", "inner", "fixed", "memory"}
    assert schema["properties"].keys() == {prop["name"] for prop in PROPS} - unasked
    assert schema["required"] == ["title", "project"] and schema["additionalProperties"] is False
    kind, project = schema["properties"]["kind"], schema["properties"]["project"]
    assert kind == {"type": "string", "enum": ["o", "closed"], "description": "One of o: Open."}
    assert project["description"] == "Look values up with list_options (prop project)."
    assert schema["properties"]["file"]["description"].startswith("The address of a file")


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "o", "size": 9, "sizes": [1], "tags": ["a"], "urgent": True, "fields": {"a": 1}, "value": [None]},
        {"statement": {"query": "select 1", "params": []}, "request": {"url": "https://example.com", "method": "GET"}},
    ],
)
def test_good_values_are_valid(more: dict[str, Any]) -> None:
    Draft202012Validator(input_schema(PROPS, reloads=False)).validate({**GOOD, **more})


@pytest.mark.parametrize(
    "more",
    [{"kind": "x"}, {"size": 10}, {"sizes": [3]}, {"tags": "a"}, {"urgent": "yes"}, {"typo": 1}, {"title": None}],
)
def test_others_are_not(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(input_schema(PROPS, reloads=False)).validate({**GOOD, **more})


def test_further_arguments_are_named_by_their_id() -> None:
    schema = input_schema(PROPS, reloads=True)
    assert schema["additionalProperties"] is True and "dynamic_props_id" in schema["properties"]


def test_very_many_options_are_looked_up() -> None:
    prop = {"name": "country", "type": "string", "options": [str(number) for number in range(MAX_CHOICES + 1)]}
    assert has_lookup(prop)
    assert "enum" not in input_schema([prop], reloads=False)["properties"]["country"]


def test_the_only_account_is_chosen_by_itself(world: Any) -> None:
    account, other = world.account(), world.account("bob")
    agent = world.agent(apps="tinykeys")
    assert "account" not in agent.tools()["make_task"]["inputSchema"]["properties"]
    assert "Project 19" in agent.text("list_options", tool="make_task", prop="project_id", query="project 19")
    named = agent.text("list_options", tool="make_task", prop="project_id", arguments={"account": account.id})
    assert "Project 0" in named
    theirs = agent.call("list_options", tool="make_task", prop="project_id", arguments={"account": other.id})
    absent = agent.call("list_options", tool="make_task", prop="project_id", arguments={"account": "apn_none"})
    assert theirs == absent and theirs["isError"]


def test_of_several_one_is_named(world: Any) -> None:
    first = world.account(name="Work")
    world.clock.advance(1)
    second = world.account(name="Home")
    agent = world.agent(apps="tinykeys")
    schema = agent.tools()["make_task"]["inputSchema"]
    assert schema["properties"]["account"]["enum"] == [first.id, second.id] and "account" in schema["required"]
    assert f"{first.id} is Work" in schema["properties"]["account"]["description"]
    assert "account" not in agent.tools()["every_type"]["inputSchema"].get("required", [])
    told = agent.text("begin_configuration", tool="make_task")
    assert told.startswith("Several accounts are connected.") and f"{second.id} (Home)" in told
    for name in (second.id, "Home"):
        assert "dyp_" in agent.text("begin_configuration", tool="make_task", arguments={"account": name})


def test_an_account_that_works_no_longer_is_reconnected(world: Any) -> None:
    account = world.account(dead=True)
    told = world.agent().text("make_task", title="A", project_id="p1")
    assert told.startswith("The Tiny Keys account works no longer.") and f"accountId={account.id}" in told


def test_the_id_of_further_arguments_is_text_and_the_persons_own(world: Any) -> None:
    world.account()
    agent = world.agent()
    assert agent.text("make_task", dynamic_props_id=5).startswith("Send these arguments to begin_configuration")
    unknown = agent.text("make_task", title="A", project_id="p1", dynamic_props_id="dyp_none")
    assert "reload its props again" in unknown


def test_files_that_an_action_writes_come_with_links(world: Any) -> None:
    told = world.agent().text("writes", names=["a.txt"])
    assert "get_url" in told


def test_a_label_of_an_agent_says_nothing(world: Any) -> None:
    agent = world.agent()
    labelled = agent.text("every_type", number={"__lv": {"label": "Four", "value": 3}}, __lv={"label": "x", "value": 1})
    assert '"number":3' in labelled and "Four" not in labelled


def test_long_schemas_keep_every_argument_and_lose_words_of_optional_ones() -> None:
    props = [
        {"name": f"field_{number}", "type": "string", "description": "Words. " * 60, "optional": number > 0}
        for number in range(60)
    ]
    whole = input_schema(props, reloads=False)
    short = trimmed(whole)
    assert list(short["properties"]) == list(whole["properties"]) and short["required"] == ["field_0"]
    assert short["properties"]["field_0"]["description"].startswith("Words.")
    assert "description" not in short["properties"]["field_59"] and short["properties"]["field_59"]["type"] == "string"
    assert len(json.dumps(short)) <= MAX_SCHEMA
    assert trimmed(short) is short, "what is short enough stays"
