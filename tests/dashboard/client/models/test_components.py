"""Components, props and options in every form that the API allows."""

from typing import Any

import pytest

from webapp.dashboard.client.models import components
from webapp.dashboard.client.models.components import Choices, Component, FoundComponent, Option, Prop, Reloaded


def test_props_without_a_name_are_left_out() -> None:
    props = components.props([{"name": "projectId"}, {"type": "string"}, {"name": 5}, {"name": "x", "label": "The x"}])
    assert [(prop.name, prop.label, prop.type) for prop in props] == [
        ("projectId", "Project id", "any"),
        ("x", "The x", "any"),
    ]


@pytest.mark.parametrize("place", [{"app": "slack"}, {"auth": {"app": "slack"}}])
def test_the_app_of_a_prop_in_either_of_its_places(place: dict[str, Any]) -> None:
    account = {"name": "account", "type": "app", **place}
    assert Prop.model_validate(account).app == "slack"
    for model in (FoundComponent, Component):
        assert model.model_validate({"key": "own", "configurable_props": [{"name": "x"}, account]}).app == "slack"


@pytest.mark.parametrize(
    ("data", "option"),
    [
        ("a", Option("a", "a")),
        (True, Option("Yes", True)),
        ({"label": "One", "value": 1}, Option("One", 1)),
        ({"value": 1}, Option("1", 1)),
        ({"__lv": {"label": "One", "value": 1}}, Option("One", 1)),
    ],
)
def test_an_option_in_each_of_its_forms(data: Any, option: Option) -> None:
    assert components.option(data) == option
    assert Prop.model_validate({"name": "x", "options": [data, None]}).options == (option,)


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({}, "changes"),
        ({"readOnlyHint": True}, "reads"),
        ({"destructiveHint": True}, "destroys"),
        ({"destructiveHint": True, "spendsHint": True}, "spends"),
        (None, "changes"),
    ],
)
def test_what_running_does(hints: Any, effect: str) -> None:
    component = Component.model_validate({"key": "k", "component_type": "action", "annotations": hints})
    assert (component.effect, component.kind, component.name) == (effect, "actions", "k")


def test_why_a_look_up_failed() -> None:
    failed = {"k": "error", "err": {"name": "Error", "message": "No such table."}}
    assert Choices.model_validate({"errors": ["Away.", 5]}).problem == "Away."
    assert Reloaded.model_validate({"observations": [failed, "x"]}).problem == "No such table."
    assert Choices.model_validate({"stringOptions": ["a"], "context": {"total": 9}}).total == 9
