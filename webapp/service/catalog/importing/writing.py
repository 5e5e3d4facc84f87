"""Writing an import to the data folder: the whole app at once, or nothing.

The new folder is made beside its place, checked, and exchanged for the old one. What somebody changed or added by hand
in the old one is carried over as it is.
"""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit.scratch import LOCK, Scratch
from webapp.service.catalog import sources
from webapp.service.catalog.check import judge
from webapp.service.catalog.importing import exchange
from webapp.service.catalog.importing.files import APP, Files, toml
from webapp.service.catalog.importing.plans import Plan
from webapp.service.catalog.importing.standing import FILE, Imported, Standing
from webapp.service.catalog.sources import BUILT_IN, Places

_SLUG = re.compile(r"[a-z][a-z0-9_]{0,49}")


@dataclass(frozen=True, slots=True)
class Written:
    """What an import did, or would do: ``plan`` with all that turned out to be impossible.

    ``added``, ``changed``, ``same`` and ``removed`` are names of actions. ``by_hand`` are files that somebody changed,
    which stay as they are.
    """

    plan: Plan
    added: tuple[str, ...]
    changed: tuple[str, ...]
    same: tuple[str, ...]
    removed: tuple[str, ...]
    by_hand: tuple[str, ...]


def check_slug(data: Path, slug: str) -> Standing | None:
    """What was imported as ``slug``. Raises :class:`Invalid` and :class:`Conflict` for one that cannot be taken."""
    if not _SLUG.fullmatch(slug):
        raise Invalid.of("slug", "Write it in lower case with underscores, such as acme_shop.")
    if (BUILT_IN / slug).exists():
        raise Conflict(f"There is a built-in app with the slug {slug}. Give this one another, such as own_{slug[:40]}.")
    folder = data / "apps" / slug
    standing = Standing.read(folder)
    if standing is None and folder.exists():
        raise Conflict(f"You wrote the app {slug} yourself. Give this one another slug.")
    return standing


def listed(data: Path) -> list[Standing]:
    """Every app that was imported, by slug."""
    exchange.recover(data)
    folders = sorted(folder for folder in (data / "apps").glob("*") if folder.is_dir())
    return [standing for folder in folders if (standing := Standing.read(folder))]


def others(data: Path, slug: str, before: Standing | None) -> tuple[str, ...]:
    """The names of actions in the folder of the app that were not imported."""
    folder = data / "apps" / slug / "actions"
    names = {file.stem if file.is_file() else file.name for file in folder.glob("*")} if folder.is_dir() else set()
    return tuple(sorted(names - ({each.action for each in before.operations.values()} if before else set())))


def preview(plan: Plan, data: Path, before: Standing | None) -> Written:
    """What :func:`write` would do."""
    with Scratch(".importing-", data) as scratch:
        return _make(plan, data, before, scratch, "", 0)


def write(plan: Plan, data: Path, before: Standing | None, source: str, imported_at: int) -> Written:
    """Write the app to the data folder. ``source`` is where the document came from.

    Raises :class:`Invalid` for an app that the catalog would not take; then nothing has changed.
    """
    with Scratch(".importing-", data) as scratch, exchange.alone(data):
        written = _make(plan, data, before, scratch, source, imported_at)
        exchange.put(data, plan.slug, scratch / "apps" / plan.slug)
    return written


def remembered(plan: Plan, source: str, imported_at: int, digests: Mapping[str, str]) -> Standing:
    """What is remembered of ``plan`` once it is written. ``digests`` are those of its files."""
    operations = {
        action.operation.id: Imported(action.operation.operation_id, action.name, action.props)
        for action in plan.actions
    }
    unsaid = {each.operation: each.reason for each in plan.left}
    return Standing(plan.slug, plan.title, plan.version, source, imported_at, plan.options, operations, digests, unsaid)


def remove(data: Path, slug: str) -> Standing:
    """Remove an app that was imported. Raises :class:`NotFound`, and :class:`Conflict` where it holds other files."""
    exchange.recover(data)
    folder = data / "apps" / slug
    standing = Standing.read(folder) if _SLUG.fullmatch(slug) else None
    if standing is None:
        raise NotFound(f"No app {slug[:100]} was imported.")
    files = [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*")) if file.is_file()]
    own = [place for place in files if place not in (*standing.digests, FILE) and "__pycache__" not in place]
    if own:
        raise Conflict(
            f"The folder of {slug} also holds files of your own, such as {own[0]}. Move them elsewhere first."
        )
    exchange.remove(data, slug)
    return standing


def _make(plan: Plan, data: Path, before: Standing | None, scratch: Path, source: str, imported_at: int) -> Written:
    """Make the app's folder in ``scratch``."""
    folder, place = scratch / "apps" / plan.slug, data / "apps" / plan.slug
    shutil.copytree(place, folder) if place.exists() else (folder / "actions").mkdir(parents=True)
    (folder / "actions").mkdir(exist_ok=True)
    files = Files(folder, before)
    plan = files.actions(plan)
    files.removals(plan)
    files.put(APP, toml(plan.app))
    _judge(folder, data)
    (folder / FILE).write_bytes(remembered(plan, source, imported_at, files.digests).to_json())
    (folder / LOCK).unlink(missing_ok=True)
    kinds = (files.added, files.changed, files.same, files.removed, files.by_hand)
    return Written(plan, *map(tuple, kinds))


def _judge(folder: Path, data: Path) -> None:
    """Raise :class:`Invalid` with what is wrong with the app in ``folder``."""
    read = sources.read(Places([folder.parent], folder.parent / "none"))
    read.categories = sources.categories(Places.of(data))
    told = [
        problem.partition(": ")[2] for problem in judge(read).problems if problem.startswith(f"{folder.name}/{APP}: ")
    ]
    if told:
        raise Invalid(told[0])
