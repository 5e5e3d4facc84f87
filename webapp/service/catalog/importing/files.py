"""The files of an imported app: what a plan writes, and how the folder takes its place: the whole app at once, or
nothing.

The new folder is made beside its place, checked, and exchanged for the old one: readers meet one or the other, and a
crash loses neither. What somebody changed or added by hand in the old folder is carried over as it is.
"""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit.scratch import LOCK, Scratch
from webapp.service.catalog import sources
from webapp.service.catalog.check import judge
from webapp.service.catalog.components import release
from webapp.service.catalog.importing import mcp_tools
from webapp.service.catalog.importing.actions import FIRST_VERSION
from webapp.service.catalog.importing.folders import alone, exchange, recover, remove_folder
from webapp.service.catalog.importing.mcp_tools import ToolChange
from webapp.service.catalog.importing.plans import Left, Plan
from webapp.service.catalog.importing.records import RECORD, Imported, Record, Summary, digest, summary
from webapp.service.catalog.sources import BUILT_IN, Places
from webapp.service.components.declared.definition import examine

APP_FILE, TOOLS_FILE = "app.toml", "tools.json"
_VERSION = re.compile(r'^version = "([^"]*)"$', re.MULTILINE)
_LINE_PREFIX = re.compile(r"^line \d+: ")
_SLUG = re.compile(r"[a-z][a-z0-9_]{0,49}")


class Files:
    """Writes the files of one app into a folder that holds what stood before."""

    def __init__(self, folder: Path, before: Record | None) -> None:
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
                reason = _LINE_PREFIX.sub("", problems[0]).rstrip(".")
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
        return match[1] if match else FIRST_VERSION


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


@dataclass(frozen=True, slots=True)
class Written:
    """What an import did, or would do: ``plan`` with all that turned out to be impossible.

    ``added``, ``changed``, ``same`` and ``removed`` are names of actions. ``by_hand`` are files that somebody changed,
    which stay as they are. ``tools`` is what has changed at an MCP server since somebody looked.
    """

    plan: Plan
    added: tuple[str, ...]
    changed: tuple[str, ...]
    same: tuple[str, ...]
    removed: tuple[str, ...]
    by_hand: tuple[str, ...]
    tools: tuple[ToolChange, ...] = ()


def check_slug(data: Path, slug: str, *, hosted: bool = False) -> Record | None:
    """What was imported as ``slug``; with ``hosted``, it is that of a server that is declared here, too.

    Raises :class:`Invalid` and :class:`Conflict` for one that cannot be taken.
    """
    if not _SLUG.fullmatch(slug):
        raise Invalid.of("slug", "Write it in lower case with underscores, such as acme_shop.")
    if (BUILT_IN / slug).exists() and not hosted:
        raise Conflict(f"There is a built-in app with the slug {slug}. Give this one another, such as own_{slug[:40]}.")
    folder = data / "apps" / slug
    standing = Record.read(folder)
    if standing is None and folder.exists():
        raise Conflict(f"You wrote the app {slug} yourself. Give this one another slug.")
    return standing


def listed(data: Path) -> list[Summary]:
    """Every app that was imported, by slug."""
    recover(data)
    folders = sorted(folder for folder in (data / "apps").glob("*") if folder.is_dir())
    return [standing for folder in folders if (standing := summary(folder))]


def others(data: Path, slug: str, before: Record | None) -> tuple[str, ...]:
    """The names of actions in the folder of the app that were not imported."""
    folder = data / "apps" / slug / "actions"
    names = {file.stem if file.is_file() else file.name for file in folder.glob("*")} if folder.is_dir() else set()
    return tuple(sorted(names - ({each.action for each in before.operations.values()} if before else set())))


def preview(plan: Plan, data: Path, before: Record | None) -> Written:
    """What :func:`write` would do."""
    with Scratch(".importing-", data) as scratch:
        return _make(plan, data, before, scratch, "", 0)


def write(plan: Plan, data: Path, before: Record | None, source: str, imported_at: int) -> Written:
    """Write the app to the data folder. ``source`` is where the document came from.

    Raises :class:`Invalid` for an app that the catalog would not take; then nothing has changed.
    """
    with Scratch(".importing-", data) as scratch, alone(data):
        written = _make(plan, data, before, scratch, source, imported_at)
        exchange(data, plan.slug, scratch / "apps" / plan.slug)
    return written


def remembered(plan: Plan, source: str, imported_at: int, digests: Mapping[str, str]) -> Record:
    """What is remembered of ``plan`` once it is written. ``digests`` are those of its files."""
    operations = {
        action.operation.id: Imported(action.operation.operation_id, action.name, action.props)
        for action in plan.actions
    }
    unsaid = {each.operation: each.reason for each in plan.left}
    directory = str(plan.app.get("origin", {}).get("directory", ""))
    return Record(
        plan.slug, plan.title, plan.version, source, imported_at, plan.options, operations, digests, unsaid, directory
    )


def remove(data: Path, slug: str) -> Record:
    """Remove an app that was imported. Raises :class:`NotFound`, and :class:`Conflict` where it holds other files."""
    recover(data)
    folder = data / "apps" / slug
    standing = Record.read(folder) if _SLUG.fullmatch(slug) else None
    if standing is None:
        raise NotFound(f"No app {slug[:100]} was imported.")
    files = [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*")) if file.is_file()]
    own = [place for place in files if place not in (*standing.digests, RECORD) and "__pycache__" not in place]
    if own:
        raise Conflict(
            f"The folder of {slug} also holds files of your own, such as {own[0]}. Move them elsewhere first."
        )
    remove_folder(data, slug)
    return standing


def _make(plan: Plan, data: Path, before: Record | None, scratch: Path, source: str, imported_at: int) -> Written:
    """Make the app's folder in ``scratch``."""
    folder, place = scratch / "apps" / plan.slug, data / "apps" / plan.slug
    tools = mcp_tools.changes(pinned_tools(data, plan.slug), plan.tools) if before else ()
    shutil.copytree(place, folder) if place.exists() else (folder / "actions").mkdir(parents=True)
    (folder / "actions").mkdir(exist_ok=True)
    files = Files(folder, before)
    plan = files.actions(plan)
    files.removals(plan)
    files.put(APP_FILE, toml(plan.app))
    if plan.tools or (folder / TOOLS_FILE).exists():
        files.put(TOOLS_FILE, orjson.dumps(plan.tools, option=orjson.OPT_INDENT_2))
    _judge(folder, data)
    (folder / RECORD).write_bytes(remembered(plan, source, imported_at, files.digests).to_json())
    (folder / LOCK).unlink(missing_ok=True)
    added, changed, same = tuple(files.added), tuple(files.changed), tuple(files.same)
    return Written(plan, added, changed, same, tuple(files.removed), tuple(files.by_hand), tuple(tools))


def pinned_tools(data: Path, slug: str) -> Mapping[str, Mapping[str, Any]]:
    """The tools of the server of the app ``slug`` as somebody saw them last; none where that was not kept."""
    try:
        tools: Mapping[str, Mapping[str, Any]] = orjson.loads((data / "apps" / slug / TOOLS_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return tools


def _judge(folder: Path, data: Path) -> None:
    """Raise :class:`Invalid` with what is wrong with the app in ``folder``."""
    read = sources.read(Places([folder.parent], folder.parent / "none"))
    read.categories = sources.categories(Places.of(data))
    sentences = [
        problem.partition(": ")[2]
        for problem in judge(read).problems
        if problem.startswith(f"{folder.name}/{APP_FILE}: ")
    ]
    if sentences:
        raise Invalid(sentences[0])
