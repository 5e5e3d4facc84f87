"""A draft asks for each value once, required ones first, and keeps texts of the document as they are."""

from typing import Any

import pytest

from webapp.service.catalog.importing.drafts import Draft, Unsaid, plain
from webapp.service.catalog.importing.refs import Refs
from webapp.service.catalog.importing.schemas import Shape
from webapp.service.catalog.importing.words import Names


def test_required_props_come_first_after_the_account() -> None:
    draft = Draft(Refs({}), Names({}, ("account",)))
    assert draft.ask("query", "page", Shape("integer"), required=False) == "{page}"
    ids = draft.ask("path", "ids", Shape("array", items={"type": "string"}), required=True)
    assert draft.joined(ids, ",") == "{ids|join(',')}"
    assert draft.joined(draft.ask("body", "n", Shape("number"), required=False), ";") == "{n|number|join(';')}"
    assert list(draft.toml("acme")) == ["account", "ids", "page", "n"]
    assert list(draft.toml(None)) == ["ids", "page", "n"]
    draft.leave_out("page", "it is old")
    assert draft.notes == ["page is left out: it is old."]


def test_braces_of_the_document_are_no_holes() -> None:
    assert plain({"a": ["{x}", 1]}) == {"a": ["{{x}}", 1]}


def test_a_value_that_is_nested_too_deeply_is_not_written() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    with pytest.raises(Unsaid, match="nested too deeply"):
        plain({"a": deep})
