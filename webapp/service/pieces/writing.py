"""A piece as files of the catalog, in ``DATA/pieces/apps``, once its owner has agreed to what was planned.

Components stand in the folder of their app, each version beside the others, so that what is deployed stays on its own.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from webapp.service.catalog.importing.files import toml
from webapp.service.pieces.planning import Plan
from webapp.service.pieces.standing import Standing, mark

_FOLDERS = {"action": "actions", "trigger": "triggers"}


def write(planned: Plan, data: Path, hosts: Sequence[str]) -> None:
    """Write what was planned, which may reach ``hosts``; other versions of the package stay."""
    root, package = data / "pieces" / "apps", planned.package
    for slug, facts in planned.facts.files.items():
        file, joins = root / slug / "app.toml", "joins" in facts
        if not (joins and file.exists()):  # which may be that of another package whose app it is
            _put(file, (b"" if joins else mark(package.name).encode()) + toml(_confirmed(facts, hosts)))
    place = root / planned.app
    for each in planned.components:
        content = each.with_hosts(hosts).to_json()
        _put(place / _FOLDERS[each.kind] / each.name / f"{package.version}.json", content)
    for language, words in planned.words.items():
        name = f"{_label(package.name)}.{language}.json"
        _put(place / "languages" / name, json.dumps(words, ensure_ascii=False).encode())


def remove(data: Path, package: str, versions: Sequence[str] | None = None) -> None:
    """Take the components of ``package`` away, all or those of ``versions``, and what of its apps is empty then."""
    before = Standing.read(data, package)
    for file, version in before.files.items():
        if versions is None or version in versions:
            file.unlink(missing_ok=True)
            _drop_empty(file.parent)
    if any(file.exists() for file in before.files):
        return
    for folder in (*before.brought, *before.joined):
        for file in (folder / "languages").glob(f"{_label(package)}.*.json"):
            file.unlink()
        if any(folder.glob("*/*/*.json")):
            continue
        if folder in before.brought or (folder / "app.toml").read_bytes().startswith(b"joins = "):
            shutil.rmtree(folder, ignore_errors=True)


def _confirmed(facts: Mapping[str, Any], hosts: Sequence[str]) -> dict[str, Any]:
    """The facts of an app with the hosts that its owner confirmed."""
    if "piece" not in facts:
        return dict(facts)
    confirmed = {**facts, "piece": {**facts["piece"], "hosts": list(hosts)}, "allowed_hosts": list(hosts)}
    return confirmed if hosts else {name: value for name, value in confirmed.items() if name != "allowed_hosts"}


def _put(file: Path, content: bytes) -> None:
    """Write ``file`` whole, so that who reads sees the old one or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.new")
    draft.write_bytes(content)
    draft.replace(file)


def _label(package: str) -> str:
    """The name of a package as that of a file."""
    return package.removeprefix("@").replace("/", ".")


def _drop_empty(folder: Path) -> None:
    """Remove the folder of a component, and that of its kind, where nothing is left in them."""
    for place in (folder, folder.parent):
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()
