"""The files of an app that is imported: each as it is planned, or as somebody changed it since."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from webapp.service.catalog.components import release
from webapp.service.catalog.importing.actions import FIRST
from webapp.service.catalog.importing.plans import Left, Plan
from webapp.service.catalog.importing.standing import Standing, digest
from webapp.service.components.declared.declaring import examine

APP = "app.toml"
_VERSION = re.compile(r'^version = "([^"]*)"$', re.MULTILINE)
_LINE = re.compile(r"^line \d+: ")


class Files:
    """Writes the files of one app into a folder that holds what stood before."""

    def __init__(self, folder: Path, before: Standing | None) -> None:
        self._folder, self._before = folder, before
        self.digests: dict[str, str] = {}
        self.added: list[str] = []
        self.changed: list[str] = []
        self.same: list[str] = []
        self.removed: list[str] = []
        self.by_hand: list[str] = []

    def actions(self, plan: Plan) -> Plan:
        """Write each action; ``plan`` without those that would not be taken."""
        kept, left = [], []
        for action in plan.actions:
            place = f"actions/{action.name}.toml"
            is_new, version = not (self._folder / place).exists(), self._version(place)
            changed = self.put(place, toml(versioned(action.toml, version)))
            if changed and not is_new:
                changed = self.put(place, toml(versioned(action.toml, _next(version))))
            problems = examine(self._folder / place)[1] if changed else []
            if problems:
                (self._folder / place).unlink()
                self.digests.pop(place, None)
                self.removed += [] if is_new else [action.name]
                reason = _LINE.sub("", problems[0]).rstrip(".")
                left.append(
                    Left(action.operation.id, action.operation.title, f"it cannot be written as an action: {reason}")
                )
                continue
            kept.append(action)
            (self.added if is_new else self.changed if changed else self.same).append(action.name)
        return replace(plan, actions=kept, left=[*plan.left, *left])

    def removals(self, plan: Plan) -> None:
        """Remove the actions that are none any more."""
        names = {action.name for action in plan.actions}
        for each in self._before.operations.values() if self._before else ():
            place = f"actions/{each.action}.toml"
            if each.action in names or not (self._folder / place).exists():
                continue
            if self._before and self._before.is_untouched(self._folder, place):
                (self._folder / place).unlink()
                self.removed.append(each.action)
            else:
                self.by_hand.append(place)

    def put(self, place: str, content: bytes) -> bool:
        """Write the file at ``place``, unless somebody changed it; whether it is another than before."""
        file = self._folder / place
        if (
            self._before
            and file.exists()
            and place not in self.digests
            and not self._before.is_untouched(self._folder, place)
        ):
            self.digests[place] = self._before.digests.get(place, "")
            self.by_hand.append(place)
            return False
        if place in self.by_hand:
            return False
        self.digests[place] = digest(content)
        if file.exists() and file.read_bytes() == content:
            return False
        file.write_bytes(content)
        return True

    def _version(self, place: str) -> str:
        file = self._folder / place
        match = _VERSION.search(file.read_text("utf-8")) if file.exists() else None
        return match[1] if match else FIRST


def versioned(toml: Mapping[str, Any], version: str) -> dict[str, Any]:
    """An action with its version, which stands behind its name."""
    return {"name": toml["name"], "version": version, **{key: toml[key] for key in toml if key != "name"}}


def _next(version: str) -> str:
    major, minor, patch = release(version)
    return f"{major}.{minor}.{patch + 1}"


def toml(fields: Mapping[str, Any]) -> bytes:
    """The content of a file that says ``fields``."""
    import tomli_w  # which only imports need

    return tomli_w.dumps(fields, multiline_strings=False).encode()
