"""Pieces of the npm registry as they are: all that they have is listed as clients read it, and answers."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.peers.pieces.conftest import CURRENT, Registry, fetch
from webapp.service.api.components import Component
from webapp.service.components.pieces.package_calls import PackageCall

pytestmark = pytest.mark.peer
COUNTS = {  # actions, triggers, parts that are left out
    "slack": (70, 14, 2),
    "notion": (37, 4, 0),
    "intercom": (26, 22, 0),
    "store": (6, 0, 0),
    "square": (0, 7, 0),
    "facebook-leads": (0, 1, 0),
    "webhook": (1, 1, 1),
    "openai": (8, 0, 0),
    "delay": (2, 0, 0),
}
ACCOUNTS = {
    "slack": ("slack_bot_token", {"bot_token": "xoxb-alice", "user_token": "xoxp-alice"}),
    "notion": ("notion_access_token", {"access_token": "secret-alice"}),
    "intercom": ("intercom_access_token", {"access_token": "dG9rOmFsaWNl", "region": "intercom"}),
    "openai": ("openai_2", {"api_key": "sk-alice"}),
}
RUNS: list[tuple[str, str, dict[str, Any], str]] = [
    ("slack", "send-channel-message", {"channel": "C1", "text": "hi"}, "POST /api/chat.postMessage"),
    ("notion", "list-databases", {}, "POST /v1/search"),
    ("intercom", "list-all-tags", {}, "GET /tags"),
]
OPTIONS: list[tuple[str, str, str, dict[str, Any], list[str]]] = [
    ("slack", "send-channel-message", "channel", {}, ["general", "random"]),
    ("notion", "create-database-item-2", "database_id", {}, ["Tasks"]),
    ("intercom", "add-or-remove-tag-on-contact", "tagId", {}, ["Customer"]),
]


def account(registry: Registry, name: str) -> tuple[str, dict[str, Any]]:
    """The slug of its app, and the value of its app prop."""
    slug, values = ACCOUNTS[name]
    prop = "openai_2" if name == "openai" else name
    return slug, {prop: registry.bench.account("alice", slug, values)}


def listed(registry: Registry, kind: str, app: str) -> list[dict[str, Any]]:
    """All components of that kind and app, page by page."""
    found: list[dict[str, Any]] = []
    after = ""
    while True:
        path = f"{kind}?app={app}&limit=50{f'&after={after}' if after else ''}"
        page = registry.bench.installation.api("GET", path, registry.bench.token).json()
        found += page["data"]
        after = page["page_info"]["end_cursor"]
        if not after:
            return found


def test_one_that_is_brought_along_in_another_way_has_a_name_of_its_own(registry: Registry) -> None:
    plan = registry.bench.plans["@activepieces/piece-openai"]
    brought = [registry.bench.installation.service.catalog.app(slug) for slug in ("openai", plan.app)]
    assert [app and app.name for app in brought] == ["OpenAI", "OpenAI (npm)"]


@pytest.mark.parametrize("name", CURRENT)
def test_every_part_is_listed_and_reads_as_the_contract_has_it(registry: Registry, name: str) -> None:
    plan = registry.bench.plans[f"@activepieces/piece-{name}"]
    assert (len(plan.actions), len(plan.triggers), len(plan.left_out)) == COUNTS[name]
    for kind, parts in (("actions", plan.actions), ("triggers", plan.triggers)):
        components = {each["key"]: each for each in listed(registry, kind, plan.app)}
        assert {part.key for part in parts} <= set(components)
        for part in parts:
            component = TypeAdapter(Component).validate_python(components[part.key])
            assert component.name == part.name and component.description.strip()
            names = [prop["name"] for prop in components[part.key]["configurable_props"]]
            assert len(names) == len(set(names))


@pytest.mark.parametrize(("name", "action", "values", "place"), RUNS)
def test_an_action_asks_its_provider(
    registry: Registry, name: str, action: str, values: dict[str, Any], place: str
) -> None:
    slug, prop = account(registry, name)
    registry.bench.web.asked.clear()
    result = registry.bench.run(f"{slug}-{action}", "alice", {**prop, **values})
    assert result["ret"] is not None, result["os"]
    assert place in [asked.place for asked in registry.bench.web.asked]


@pytest.mark.parametrize(("name", "action", "prop_name", "values", "labels"), OPTIONS)
def test_options_are_those_of_the_provider(
    registry: Registry, name: str, action: str, prop_name: str, values: dict[str, Any], labels: list[str]
) -> None:
    slug, prop = account(registry, name)
    answer = registry.bench.ask(
        "actions/configure", f"{slug}-{action}", "alice", {**prop, **values}, prop_name=prop_name
    )
    assert [option["label"] for option in answer["options"]] == labels, answer


def test_fields_follow_from_what_was_chosen_and_arrive(registry: Registry) -> None:
    slug, prop = account(registry, "notion")
    key, values = f"{slug}-create-database-item-2", {**prop, "database_id": "db-1"}
    reloaded = registry.bench.ask("actions/props", key, "alice", values)["dynamicProps"]
    fields = {each["label"]: each for each in reloaded["configurableProps"] if "__" in each["name"]}
    assert {label: field["type"] for label, field in fields.items()} == {
        "Name": "string", "Done": "boolean", "Size": "string",
    }  # fmt: skip
    values |= {fields["Name"]["name"]: "Paint", fields["Done"]["name"]: True}
    result = registry.bench.run(key, "alice", values, dynamic_props_id=reloaded["id"])
    assert result["ret"]["properties"]["Done"] == {"checkbox": True}, result["os"]


@pytest.mark.parametrize("scope", ["COLLECTION", "FLOW"])
def test_what_is_stored_is_there_in_the_next_run_of_the_same_user_only(registry: Registry, scope: str) -> None:
    def run(action: str, user: str, **values: Any) -> Any:
        return registry.bench.run(f"store-{action}", user, {"key": "k", "store_scope": scope, **values})["ret"]

    assert run("put", "alice", value="v") == "v"
    assert (run("get", "alice"), run("get", "bob")) == ("v", None)
    assert run("append", "alice", value="w", separator="-") == "v-w"
    run("remove-value", "alice")
    assert run("get", "alice") is None


def test_what_is_stored_for_one_run_is_not_kept(registry: Registry) -> None:
    values = {"key": "brief", "store_scope": "RUN"}
    assert registry.bench.run("store-put", "alice", {**values, "value": "v"})["ret"] == "v"
    assert registry.bench.run("store-get", "alice", values)["ret"] is None


def test_without_an_account_and_a_provider(registry: Registry) -> None:
    run = registry.bench.run
    delay = registry.bench.plans["@activepieces/piece-delay"].actions[0].key
    assert run(delay, "alice", {"unit": "seconds", "delayFor": "1"})["ret"]["success"] is True
    refused = run(delay, "alice", {"unit": "hours", "delayFor": "5"})["os"][-1]["err"]["message"]
    assert "needs a flow that waits" in refused


def test_what_is_too_old_is_refused_in_a_sentence(registry: Registry, tmp_path: Path) -> None:
    package = fetch(tmp_path / "stripe", "stripe", "0.2.0")
    question = PackageCall(tmp_path / "stripe", package, "describe")
    described = registry.bench.installation.service.executor.ask_package(question)
    assert described.error is not None
    assert "too old" in described.error.message
