"""What running an action of a piece means."""

from typing import Any

import pytest

from webapp.service.pieces import hints
from webapp.service.pieces.metadata import Part

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


@pytest.mark.parametrize(("told", "expected"), CASES, ids=[case[0]["name"] for case in CASES])
def test_as_the_piece_says_else_as_its_name_does(told: dict[str, Any], expected: tuple[bool, bool, bool]) -> None:
    found = hints.annotations(Part.model_validate(told))
    assert tuple(found[name] for name in ("readOnlyHint", "destructiveHint", "idempotentHint")) == expected
    assert found["openWorldHint"] is True


def test_what_it_writes_may_be_wanted_where_it_speaks_of_files() -> None:
    assert hints.writes_files(Part.model_validate({"name": "x", "props": {"a": {"type": "FILE"}}}))
    assert hints.writes_files(Part.model_validate({"name": "x", "description": "Downloads a file."}))
    assert not hints.writes_files(Part.model_validate({"name": "x", "description": "Adds a task to your profile."}))
