"""The file of a component of a piece, for tests: what it says, and one that stands where an installation has it."""

import json
from pathlib import Path
from typing import Any

DECLARATION: dict[str, Any] = {
    "kind": "action", "name": "Add a task", "description": "Adds a task.", "app": "acme",
    "configurable_props": [{"name": "acme", "type": "app", "app": "acme"}, {"name": "title", "type": "string"}],
    "annotations": {}, "has_reload": False, "dedupe": None, "hooks": [], "stash": None, "aliases": [],
    "prop_aliases": {},
}  # fmt: skip
PIECE: dict[str, Any] = {
    "package": "@acme/piece-acme", "version": "0.2.0", "folder": "packages/piece-acme/0.2.0", "kind": "action",
    "name": "add_task", "account": "acme", "auth": {"acme": {"type": "OAUTH2"}}, "hosts": ["api.acme.example"],
}  # fmt: skip


def write(data: Path, **changes: Any) -> Path:
    """The file of a component in the data folder ``data``, with ``changes`` to its piece."""
    file = data / "pieces" / "apps" / "acme" / "actions" / "add-task" / "0.2.0.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"piece": {**PIECE, **changes}, "declaration": DECLARATION}), "utf-8")
    return file
