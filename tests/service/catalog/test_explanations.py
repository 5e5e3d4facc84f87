"""Which props lack an explanation: ids that nobody can find, and labels that do not speak for themselves."""

from pathlib import Path
from typing import Any

import pytest

from webapp.service.catalog.component_files import Component
from webapp.service.catalog.explanations import counted

FILE = Component("acme-send", "0.0.1", "action", "acme", "acme/actions/send.toml", Path("/apps"))


def _gaps(**prop: Any) -> list[str]:
    facts = {"configurable_props": [{"name": "acme", "type": "app"}, {"type": "string", **prop}]}
    return [gap.removeprefix("acme/actions/send.toml: ") for gap in counted([(FILE, facts)]).gaps]


@pytest.mark.parametrize("name", ["id", "order_id", "orderId", "order_ids", "orderID"])
def test_an_id_needs_choices_or_a_place(name: str) -> None:
    lost = [f"{name}: nothing says where this id is found."]
    assert _gaps(name=name, label="Name", description="Its id.") == lost
    assert _gaps(name=name, label="Name", description="From the address of its page.") == []
    assert _gaps(name=name, label="Name", remoteOptions=True) == []


def test_a_label_that_does_not_speak_for_itself_needs_a_description() -> None:
    assert _gaps(name="due", label="Due") == ["due: “Due” needs a description."]
    assert _gaps(name="due", label="Due", description="Such as 2026-05-31.") == []
    assert _gaps(name="due", label="Due", options=["today"]) == []
    assert _gaps(name="paid", label="Title") == []


def test_what_nobody_fills_in_is_not_counted() -> None:
    facts = {"configurable_props": [{"name": "db", "type": "$.service.db"}, {"name": "app_id", "type": "app"}]}
    found = counted([(FILE, facts)])
    assert (found.ids, found.unclear) == (0, 0)
