"""Parts of a piece as components."""

from typing import Any

import pytest

from tests.service.pieces import described
from webapp.service.components.pieces import form
from webapp.service.components.pieces.form import AuthForm, ComponentFile
from webapp.service.pieces.components import Component, component
from webapp.service.pieces.connecting.apps import Apps, Package
from webapp.service.pieces.metadata import Kind, Part

PACKAGE = Package("@acme/piece-acme-tasks", "0.2.0", "packages/piece-acme-tasks/0.2.0")
APPS = Apps("acme_tasks", "Acme Tasks", {}, {"acme_tasks": AuthForm(type="SECRET_TEXT")}, "keys")


def made(told: dict[str, Any], kind: Kind = "action", apps: Apps = APPS) -> Component | str:
    return component(Part.model_validate(told), kind, "it", apps, PACKAGE)


def test_an_action_declares_what_the_catalog_keeps() -> None:
    action = made(described.ADD)
    assert isinstance(action, Component)
    declared = action.file.declaration
    assert (declared.kind, declared.name, declared.description) == (
        "action",
        "Add Task",
        "Adds a task. Odd cannot be filled in here.",
    )
    assert (declared.app, declared.has_reload, declared.stash) == ("acme_tasks", True, None)
    assert declared.annotations["readOnlyHint"] is False
    assert action.file.piece.account == "acme_tasks"
    assert dict(action.labels) == {"list": "List", "title": "Title", "x_tag": "Tag", "look": "Look"}


def test_its_file_is_read_as_it_was_written(tmp_path: Any) -> None:
    action = made(described.ADD)
    assert isinstance(action, Component)
    file = tmp_path / "0.2.0.json"
    file.write_bytes(action.with_hosts(["api.acme.io"]).to_json())
    read = form.read(file)
    assert read.piece.hosts == ("api.acme.io",)
    assert read.declaration == action.file.declaration
    assert ComponentFile.model_validate(read.model_dump()) == read


def test_one_that_needs_no_account_has_none() -> None:
    public = made(described.PUBLIC)
    assert isinstance(public, Component)
    assert (public.file.declaration.app, public.file.piece.auth, public.file.declaration.description) == (
        None,
        {},
        "Get Status.",
    )
    nobody = made(described.ADD, apps=Apps("acme_tasks", "Acme Tasks", {}))
    assert isinstance(nobody, Component)
    assert nobody.file.piece.account == ""


def test_one_that_may_wait_says_how_long() -> None:
    waits = made({**described.FIND, "description": "Waits", "wants": ["pause"]})
    assert isinstance(waits, Component)
    assert waits.file.declaration.description == "Waits. Here it cannot wait longer than a call may take."


def test_a_trigger_says_how_it_is_set_off() -> None:
    told = made(described.TOLD, "trigger")
    assert isinstance(told, Component)
    assert (told.file.declaration.kind, told.file.declaration.hooks) == ("source", ("activate", "deactivate", "renew"))
    assert (told.file.piece.strategy, told.file.piece.renew) == ("WEBHOOK", "0 0 * * *")
    looks = made(described.NEW, "trigger")
    assert isinstance(looks, Component)
    assert [prop.name for prop in looks.file.declaration.configurable_props] == [
        "acme_tasks", "timer", "timer_interface", "db",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("told", "kind", "reason"),
    [
        (described.WAIT, "action", "It waits in the middle for an answer"),
        ({"name": "x", "wants": ["agent"]}, "action", "It hands its work to an agent"),
        (described.BY_HAND, "trigger", "It is started by hand"),
        ({"name": "x", "props": {"y": {"type": "FUTURE", "required": True}}}, "action", "It needs Y"),
        (described.HEARD, "trigger", "Its events come to the address of an OAuth client, and nobody"),
    ],
)
def test_one_that_cannot_be_called_says_why(told: dict[str, Any], kind: Kind, reason: str) -> None:
    left_out = made(told, kind)
    assert isinstance(left_out, str)
    assert left_out.startswith(reason)
