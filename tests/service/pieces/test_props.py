"""The props of a part as a component has them."""

from typing import Any

import pytest

from tests.service.pieces import described
from webapp.service.pieces import metadata
from webapp.service.pieces.metadata import Part
from webapp.service.pieces.props import account_prop, props, wire_names


def part(told: dict[str, Any]) -> Part:
    return Part.model_validate(told)


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
