"""A component as the service knows it: one row of the catalog, where it stands, and what its version means."""

from pathlib import Path
from typing import Any

import pytest

from webapp.service.catalog.components import component, release
from webapp.service.catalog.sources import BUILT_IN


def kept(key: str, **changes: Any) -> dict[str, Any]:
    facts = {
        "id": "sc_1", "key": key, "version": "1.0.0", "kind": "action", "name": "Count", "app": None, "has_reload": 0,
        "description": "Counts at ${sandbox}.", "json": '{"description": "Counts at ${sandbox}."}', "hooks": "[]",
        "prop_aliases": "{}", "dedupe": None, "root": None, "path": f"{key}/1.0.0.py",
    }  # fmt: skip
    return {**facts, **changes}


def test_it_stands_in_the_catalogs_own_folder_or_another(tmp_path: Path) -> None:
    built_in, own = kept("my_sheets-count"), kept("~/count", root="components")
    variables = {"sandbox": "http://localhost:8001"}
    found = [component(each, variables, tmp_path / "data") for each in (built_in, own)]
    assert [(info.own, info.path, info.description) for info in found] == [
        (False, BUILT_IN / "my_sheets-count/1.0.0.py", "Counts at http://localhost:8001."),
        (True, tmp_path / "data/components/~/count/1.0.0.py", "Counts at http://localhost:8001."),
    ]
    assert {info.json for info in found} == {b'{"description": "Counts at http://localhost:8001."}'}
    assert component(kept("acme-do", description="Does.", json="{}"), {}, tmp_path).json == b"{}"


def test_a_version_is_three_numbers() -> None:
    assert release("1.10.0") > release("1.9.9")
    for wrong in ("1", "1.0", "1.0.0-beta", "01.0.0", "1.0.0 "):
        with pytest.raises(ValueError, match="not a version"):
            release(wrong)
