"""What a trigger is deployed with besides its props, and what redeploying one changes."""

from typing import Any

import pytest

from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.components import Component
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component import deploy_form
from webapp.dashboard.component.deploy_form import DeployForm
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.form import ComponentForm

PROPS = [
    {"name": "list", "type": "string", "optional": True},
    {"name": "note", "type": "string", "optional": True},
    {"name": "token", "type": "string", "secret": True},
]
STANDING = {
    "id": "dc_1", "name": "Mine", "emit_on_deploy": False,
    "configured_props": {"list": "home", "note": None, "token": "told"},
}  # fmt: skip
LONG_URL = "https://a.example/" + "x" * 1_983


def form(data: dict[str, list[str]], trigger: dict[str, Any] | None = None, dynamic: str = "") -> ComponentForm:
    component = Component.model_validate({"key": "tasks-new", "configurable_props": PROPS})
    standing = Trigger.model_validate(trigger) if trigger else None
    props = DynamicProps(dynamic, tuple(PROPS)) if dynamic else DynamicProps()
    return ComponentForm(App(), component, data, props, Overview((), 0, ""), trigger=standing)


@pytest.mark.parametrize(
    ("data", "trigger", "answers"),
    [
        ({}, None, DeployForm("", "", True)),
        ({}, STANDING, DeployForm("Mine", "", False)),
        (
            {
                "t.deploy:name": [" Yours "],
                "t.deploy:url": [" https://a.example "],
                "t.deploy:emit": ["false", "true"],
            },
            STANDING,
            DeployForm("Yours", "https://a.example", True),
        ),
        ({"t.deploy:name": [""], "t.deploy:emit": ["false"]}, None, DeployForm("", "", False)),
    ],
    ids=["nobody touched it", "nobody touched what is edited", "answered", "emptied"],
)
def test_answers_are_what_was_typed_else_what_the_trigger_has(
    data: dict[str, list[str]], trigger: dict[str, Any] | None, answers: DeployForm
) -> None:
    assert deploy_form.of(form(data, trigger)) == answers


@pytest.mark.parametrize(
    ("name", "url", "problems"),
    [
        ("n" * 200, "HTTPS://a.example", {}),
        ("", "http://a.example", {}),
        ("n" * 201, "", {"deploy:name": "Use at most 200 characters."}),
        ("", "a.example", {"deploy:url": "Write the whole address, beginning with https:// or http://."}),
        ("", LONG_URL, {"deploy:url": "Write the whole address, beginning with https:// or http://."}),
        ("", LONG_URL[:-1], {}),
    ],
)
def test_what_is_wrong_is_said_by_field(name: str, url: str, problems: dict[str, str]) -> None:
    assert DeployForm(name, url, True).problems() == problems


def test_an_emptied_answer_is_removed_and_an_untouched_secret_stays() -> None:
    answers = DeployForm("Yours", "", True)
    assert deploy_form.changes(form({}, STANDING), {"note": "x"}, answers) == {
        "configured_props": {"list": None, "note": "x"},
        "emit_on_deploy": True,
        "name": "Yours",
    }
    assert deploy_form.changes(
        form({}, STANDING, "dyp_1"), {"list": "shop", "token": "t"}, DeployForm("", "", False)
    ) == {
        "configured_props": {"list": "shop", "token": "t"},
        "emit_on_deploy": False,
        "dynamic_props_id": "dyp_1",
    }
