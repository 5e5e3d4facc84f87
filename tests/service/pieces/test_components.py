"""What running an action of a piece means.

How triggers of pieces are set off.

The props of a part as a component has them.

Parts of a piece as components.
"""

from typing import Any

import pytest

from tests.service.pieces import described
from webapp.service.components.pieces import form
from webapp.service.components.pieces.form import AuthForm, ComponentFile
from webapp.service.pieces import components, metadata
from webapp.service.pieces.apps import Apps, Package
from webapp.service.pieces.components import Component, account_prop, component, emitter_of, props, wire_names
from webapp.service.pieces.metadata import Kind, Part

CASES: list[tuple[dict[str, Any], tuple[bool, bool, bool]]] = [
    ({"name": "x", "classification": "READ"}, (True, False, True)),
    ({"name": "delete_it", "classification": "SEARCH"}, (True, False, True)),
    ({"name": "x", "classification": "DESTRUCTIVE", "aiMetadata": {"idempotent": True}}, (False, True, True)),
    ({"name": "add", "classification": "WRITE"}, (False, False, False)),
    ({"name": "update_task", "classification": "WRITE"}, (False, True, False)),
    ({"name": "acme-list-tasks", "displayName": "List Tasks"}, (True, False, True)),
    ({"name": "findUser"}, (True, False, True)),
    ({"name": "remove_task", "displayName": "Remove Task"}, (False, True, False)),
    ({"name": "get_and_delete"}, (False, True, False)),
    ({"name": "send", "displayName": "Send Message"}, (False, False, False)),
    ({"name": "custom_api_call", "displayName": "Custom API Call"}, (False, True, False)),
]
PACKAGE = Package("@acme/piece-acme-tasks", "0.2.0", "packages/piece-acme-tasks/0.2.0")
APPS = Apps("acme_tasks", "Acme Tasks", {}, {"acme_tasks": AuthForm(type="SECRET_TEXT")}, "keys")


@pytest.mark.parametrize(("told", "expected"), CASES, ids=[case[0]["name"] for case in CASES])
def test_as_the_piece_says_else_as_its_name_does(told: dict[str, Any], expected: tuple[bool, bool, bool]) -> None:
    found = components.annotations_of(Part.model_validate(told))
    assert tuple(found[name] for name in ("readOnlyHint", "destructiveHint", "idempotentHint")) == expected
    assert found["openWorldHint"] is True


def test_what_it_writes_may_be_wanted_where_it_speaks_of_files() -> None:
    assert components.writes_files(Part.model_validate({"name": "x", "props": {"a": {"type": "FILE"}}}))
    assert components.writes_files(Part.model_validate({"name": "x", "description": "Downloads a file."}))
    assert not components.writes_files(
        Part.model_validate({"name": "x", "description": "Adds a task to your profile."})
    )


def part(told: dict[str, Any]) -> Part:
    return Part.model_validate(told)


def test_one_that_looks_has_a_timer_and_what_it_saw_counts_once() -> None:
    looks = emitter_of(part(described.NEW), "acme", ["acme", "timer"])
    assert [(prop["name"], prop["type"]) for prop in looks.props] == [
        ("timer_interface", "$.interface.timer"),
        ("db", "$.service.db"),
    ]
    assert looks.props[0]["default"] == {"intervalSeconds": 900}
    assert (looks.strategy, looks.hooks, looks.dedupe) == ("POLLING", ("activate", "deactivate"), "unique")


def test_one_that_is_reported_answers_a_handshake_and_is_renewed() -> None:
    told = emitter_of(part(described.TOLD), "acme", [])
    assert told.props[0] == {"name": "http", "type": "$.interface.http", "customResponse": True}
    assert told.hooks == ("activate", "deactivate", "renew")
    assert (told.handshake, told.renew, told.dedupe) == (
        {"strategy": "HEADER_PRESENT", "paramName": "x-hook-secret"},
        "0 0 * * *",
        None,
    )


def test_one_that_is_reported_without_either() -> None:
    plain = {key: value for key, value in described.TOLD.items() if not key.endswith("Configuration")}
    told = emitter_of(part(plain), "", [])
    assert told.props[0] == {"name": "http", "type": "$.interface.http"}
    assert (told.hooks, told.handshake, told.renew) == (("activate", "deactivate"), None, None)


def test_one_that_hears_its_app_does_so_with_an_account() -> None:
    heard = emitter_of(part(described.HEARD), "acme", [])
    assert heard.props[0] == {"name": "events", "type": "$.interface.apphook", "appProp": "acme"}
    deaf = emitter_of(part(described.HEARD), "acme", [], hears=False)
    assert deaf.reason.endswith("nobody connects it by signing in with one.")


@pytest.mark.parametrize(
    ("told", "account", "reason"),
    [
        (described.BY_HAND, "acme", "It is started by hand in a flow"),
        (described.HEARD, "", "Its events come to the address of an OAuth client"),
        ({**described.NEW, "type": "FUTURE"}, "acme", "It is set off in a way that is not known here"),
    ],
)
def test_any_other_says_why_not(told: dict[str, Any], account: str, reason: str) -> None:
    assert emitter_of(part(told), account, []).reason.startswith(reason)


def test_they_stand_behind_the_account_and_say_what_reloads_the_others() -> None:
    add = part(described.ADD)
    own = props(add, account_prop("acme", add))
    assert [(prop["name"], prop.get("reloadProps", False)) for prop in own.listed] == [
        ("acme", False),
        ("list", True),
        ("title", False),
        ("x_tag", False),
        ("look", False),
    ]
    assert {wire: (form.name, form.kind) for wire, form in own.forms.items()} == {
        "list": ("list", "choice"),
        "title": ("title", "same"),
        "fields": ("fields", "dynamic"),
        "x_tag": ("x-tag", "same"),
        "look": ("look", "json"),
    }
    assert (own.reloads, own.dropped, own.reason) == (True, ("Odd",), "")


@pytest.mark.parametrize("refreshers", [[], ["auth"], ["gone"]])
def test_what_follows_from_the_account_is_reloaded_with_it(refreshers: list[str]) -> None:
    told = part({"name": "x", "props": {"fields": {"type": "DYNAMIC", "refreshers": refreshers}}})
    assert props(told, account_prop("acme", told)).listed[0]["reloadProps"] is True
    assert props(told, None).listed == ()


def test_one_that_it_needs_and_cannot_be_asked_for_is_the_reason() -> None:
    told = part({"name": "x", "props": {"look": {"type": "FUTURE", "required": True}}})
    assert props(told, None).reason == "It needs Look, a kind of field that is not known here."


def test_what_is_no_prop_is_dropped_and_a_note_has_no_value() -> None:
    told = part({"name": "x", "props": {"odd": 5, "info": {"type": "MARKDOWN", "description": "Hello"}}})
    own = props(told, None)
    assert (own.dropped, own.forms, len(own.listed)) == (("Odd",), {}, 1)


def test_the_account_has_a_name_of_its_own() -> None:
    told = metadata.part({"name": "x", "props": {"acme": {"type": "SHORT_TEXT"}}})
    assert told is not None
    assert account_prop("acme", told) == {"name": "acme_account", "type": "app", "app": "acme"}


def test_names_that_clients_do_not_take_are_written_anew() -> None:
    own = ["ok", "Content-Type", "Content.Type", "1st", "größe", "!", "db"]
    assert wire_names(own, {"db"}) == {
        "ok": "ok",
        "Content-Type": "Content_Type",
        "Content.Type": "Content_Type_2",
        "1st": "p_1st",
        "größe": "gr_e",
        "!": "p",
        "db": "db_2",
    }


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
