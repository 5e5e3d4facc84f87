"""Keys of the public component registry: each finds a component of ours, and each required prop has its place."""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.samples import KEYS
from webapp.errors import Invalid
from webapp.service.catalog import registry_keys
from webapp.service.catalog.build import build
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.registry_keys import UNUSED, RegistryKey
from webapp.service.catalog.sources import Places, read
from webapp.service.components.runner import Runner
from webapp.service.domain.components.component_requests import by_own_names
from webapp.service.domain.components.prop_values import checked, is_required, option_value

ACTION = """
name = "Send"
version = "1.0.0"
description = "Send it."
hints = "creates"
summary = "Sent"

[props]
acme = { type = "app", app = "acme" }
text = { type = "string", label = "Text" }
tags = { type = "string[]", label = "Tags", optional = true }

[request]
url = "/send"
"""
TABLE = """
[create-message]
component = "send"
required = { content = "text", teamDomain = false }
optional = { labels = "tags" }
"""
SEND: dict[str, Any] = {
    "aliases": ["post"],
    "prop_aliases": {"body": "text"},
    "configurable_props": [
        {"name": "acme", "type": "app"},
        {"name": "text", "type": "string"},
        {"name": "tags", "type": "string[]", "optional": True},
        {"name": "kind", "type": "string", "default": "note"},
        {"name": "hook", "type": "$.interface.apphook"},
    ],
}
OTHER: dict[str, Any] = {"aliases": [], "prop_aliases": {}, "configurable_props": []}


def key(component: str | None = None, /, **props: Any) -> RegistryKey:
    return RegistryKey(component=component, required=props)


@pytest.mark.parametrize(
    ("name", "of", "sentence"),
    [
        ("send-it", key("sent", text="text"), "there is no component sent in this app."),
        ("other", key("send", text="text"), "a component has this name itself; only that one can answer it."),
        ("post", key("send", text="text"), "send has this name as an alias already; name it once."),
        ("send", key(content="words", text="text"), "content stands for words, which is no prop of the component."),
        ("send", key(tags="text"), "tags is a prop of ours itself; it cannot stand for text."),
        ("send", key(tags=False, text="text"), "tags is a prop of ours itself; it cannot stand for nothing."),
        ("send", key(body="tags", text="text"), "body stands for another prop elsewhere; a name means one prop of a "),
        ("send", key(labels="text"), "labels stands for another prop elsewhere; a name means one prop of a component."),
        ("send", key(), "text must be filled, and no prop of this key stands for it."),
    ],
)
def test_what_is_wrong_with_a_key(name: str, of: RegistryKey, sentence: str) -> None:
    keys = {name: of, "tell": key("send", text="text", labels="tags")}
    wrong = registry_keys.problems(keys, {"send": SEND, "other": OTHER})
    assert wrong[name][0].startswith(sentence)


def test_a_key_names_every_prop_that_must_be_filled() -> None:
    keys = {"send": key(text="text"), "write": key("send", content="text", site=False)}
    assert registry_keys.problems(keys, {"send": SEND, "other": OTHER}) == {}
    assert registry_keys.names(keys, "send") == ["write"]
    assert registry_keys.props(keys, "send") == {"text": "text", "content": "text", "site": UNUSED}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[send", "it cannot be read as TOML (Expected ']' at the end of a table declaration"),
        ("[send]\nneeded = {}", "send.needed: extra inputs are not permitted."),
    ],
)
def test_a_table_that_cannot_be_read_is_a_problem(
    folder: Path, declare: Callable[[str, str], Path], text: str, sentence: str
) -> None:
    declare("acme", KEYS)
    (folder / "acme" / registry_keys.FILE).write_text(text)
    (problem,) = read(Places(built_in=folder)).problems
    assert problem.startswith(f"acme/registry.toml: {sentence}")


@pytest.fixture
def acme(folder: Path, declare: Callable[[str, str], Path]) -> Path:
    declare("acme", KEYS)
    (folder / "acme" / "actions").mkdir()
    (folder / "acme" / "actions" / "send.toml").write_text(ACTION)
    (folder / "acme" / registry_keys.FILE).write_text(TABLE)
    return folder / "acme" / registry_keys.FILE


def test_the_catalog_answers_a_key_of_the_registry(acme: Path, opened: Callable[..., Catalog]) -> None:
    component = opened().component("acme-create-message")
    assert component is not None and component.key == "acme-send"
    assert component.prop_aliases == {"app": "acme", "content": "text", "teamDomain": UNUSED, "labels": "tags"}


def test_a_key_that_cannot_work_is_not_accepted(acme: Path, tmp_path: Path, runner: Runner) -> None:
    acme.write_text(TABLE.replace('content = "text", ', ""))
    report = build(tmp_path / "catalog.db", Places(built_in=acme.parents[1]), declare=runner.call)
    sentence = "text must be filled, and no prop of this key stands for it."
    assert report.problems == (f"acme/registry.toml: create-message: {sentence}",)
    with closing(Catalog.open(tmp_path / "catalog.db", public_url="http://localhost:8000")) as catalog:
        assert catalog.component("acme-create-message") is None and catalog.component("acme-send") is not None


IN_DEPTH = (
    "airtable asana discord_bot dropbox github gmail google_calendar google_drive hubspot jira linear "
    "microsoft_outlook notion pipedrive salesforce shopify slack stripe twilio zendesk"
)
OTHERS = "anthropic google_sheets http openai schedule telegram todoist trello"


def test_three_hundred_keys_of_the_registry_are_accepted(shipped: Catalog) -> None:
    apps = [app for app in read(Places()).apps if app.of is None]
    keys = {app.spec.slug: len(app.keys) for app in apps}
    assert sum(keys[slug] for slug in f"{IN_DEPTH} {OTHERS}".split()) >= 300
    for app in apps:
        for name, of in app.keys.items():
            component = shipped.component(f"{app.spec.slug}-{name}")
            assert component is not None and component.key == f"{app.spec.slug}-{of.component or name}", name
            own = {prop["name"]: prop["name"] for prop in component.props}
            assert of.props.items() <= {**component.prop_aliases, **own}.items(), name


def sample(prop: Mapping[str, Any]) -> Any:
    """A value that ``prop`` takes."""
    options = [] if prop.get("remoteOptions") else prop.get("options") or []
    one = (
        option_value(options[0]) if options else {"integer": prop.get("min", 1), "integer[]": 1}.get(prop["type"], "x")
    )
    several = {
        "boolean": True,
        "object": {"a": "b"},
        "sql": {"query": "SELECT 1"},
        "http_request": {"url": "https://x"},
    }
    return [one] if prop["type"].endswith("[]") else several.get(prop["type"], one)


def test_what_the_registry_requires_is_enough_for_each_key(shipped: Catalog) -> None:
    """With a value for each prop that the registry requires, or knows, an account is all that is missing."""
    count = 0
    for app in (app for app in read(Places()).apps if app.of is None):
        for name, of in app.keys.items():
            component = shipped.component(f"{app.spec.slug}-{name}")
            assert component is not None
            props = {prop["name"]: prop for prop in component.props}
            ours = {
                place: prop for prop, place in of.props.items() if place != UNUSED and props[place]["type"] != "app"
            }
            sent = {prop: sample(props[place]) for place, prop in ours.items()}
            sent |= dict.fromkeys((prop for prop, place in of.required.items() if place is False), "x")
            named = by_own_names(component, sent)
            assert named == {place: sample(props[place]) for place in ours}, (component.key, name)
            accounts = [prop["name"] for prop in component.props if prop["type"] == "app" and is_required(prop)]
            try:
                checked(component.props, named, whole=True)
                missing = []
            except Invalid as error:
                missing = [detail.field.removeprefix("configured_props.") for detail in error.details]
            assert missing == accounts, (component.key, name, missing)
            count += 1
    assert count >= 500
