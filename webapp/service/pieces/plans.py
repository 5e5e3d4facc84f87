"""Plans what a version of a piece adds to the catalog, and writes its files once the owner agrees.

Planning writes nothing. The files are in ``DATA/pieces/apps``; :class:`ExistingFiles` has those of the same package
that exist already: its components in each version, and its apps.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import orjson

from webapp.errors import Invalid
from webapp.service.catalog.component_keys import key_of
from webapp.service.catalog.importing.files import toml
from webapp.service.catalog.index import Catalog
from webapp.service.pieces import connections, keys, languages, metadata, proposed_hosts
from webapp.service.pieces.apps import Apps, Package, apps
from webapp.service.pieces.components import Component, component
from webapp.service.pieces.metadata import Kind

_KIND_OF_FOLDER: Mapping[str, Kind] = {"actions": "action", "triggers": "trigger"}
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_KINDS: tuple[metadata.Kind, ...] = ("action", "trigger")
_AUTH = {"oauth": "People sign in at the service.", "keys": "People enter a key.", "none": "Nobody has to connect."}
_FOLDERS = {"action": "actions", "trigger": "triggers"}


@dataclass(frozen=True, slots=True)
class ExistingFiles:
    """``files`` are its components by path, with the version of each; ``own`` their names in the piece.

    ``brought`` are the folders of its own apps, ``joined`` those of other apps that contain its components.
    """

    files: Mapping[Path, str]
    own: Mapping[Path, str]
    brought: tuple[Path, ...] = ()
    joined: tuple[Path, ...] = ()

    @classmethod
    def read(cls, data: Path, package: str) -> Self:
        """Read the files of ``package`` in the data folder ``data``."""
        root = data / "pieces" / "apps"
        files, own = dict[Path, str](), dict[Path, str]()
        for file in sorted(root.glob("*/*/*/*.json")):
            piece = _piece(file)
            if piece.get("package") == package and file.parts[-3] in _KIND_OF_FOLDER:
                files[file], own[file] = file.stem, str(piece.get("name"))
        apps = {file.parent: file.read_text("utf-8") for file in root.glob("*/app.toml")}
        brought = {folder for folder, text in apps.items() if text.startswith(mark(package))}
        joined = {file.parents[2] for file in files} - brought
        return cls(files, own, tuple(sorted(brought)), tuple(sorted(joined)))

    def has_brought(self, slug: str) -> bool:
        """Whether only this package added the app of that slug."""
        return any(folder.name == slug for folder in self.brought)

    def names(self, slug: str, kind: str) -> dict[str, str]:
        """The names of its components of that kind in the app of that slug, by the piece's own names."""
        return {
            own: file.parent.name
            for file, own in self.own.items()
            if file.parents[2].name == slug and _KIND_OF_FOLDER[file.parts[-3]] == kind
        }


def mark(package: str) -> str:
    """The first line of the ``app.toml`` of an app that ``package`` added."""
    return f"# Made of the npm package {package}.\n"


def _piece(file: Path) -> Mapping[str, object]:
    try:
        piece = orjson.loads(file.read_bytes())["piece"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return piece if isinstance(piece, dict) else {}


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """An action or trigger to add: its title, its key, and the labels of its props by name."""

    name: str
    key: str
    kind: str
    props: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """The additions of a version of a package. ``app`` is the slug of its components, ``apps`` are new ones.

    ``auth`` says how people connect, ``hosts`` are the proposed ones, and ``left_out`` are components that cannot be
    called here: name, kind and reason.
    """

    title: str
    description: str
    logo_url: str
    package: Package
    app: str
    apps: tuple[str, ...]
    auth: str
    auth_kind: str
    hosts: tuple[str, ...]
    actions: tuple[PlannedPart, ...]
    triggers: tuple[PlannedPart, ...]
    left_out: tuple[tuple[str, str, str], ...]
    facts: Apps = field(repr=False)
    components: tuple[Component, ...] = field(repr=False)
    words: Mapping[str, Mapping[str, str]] = field(repr=False)


def plan(
    described: Any, *, package: str, version: str, folder: str, data: Path, catalog: Catalog, source: str = ""
) -> Plan:
    """Plan the additions of ``package`` in ``version``, installed in ``folder`` of ``DATA/pieces``, from its
    description.

    ``source`` is the text of its program, which is searched for addresses. Raises :class:`Invalid` if it cannot be
    added.
    """
    if not _VERSION.fullmatch(version):
        raise Invalid(
            f"{version} is not a version of three numbers, such as 1.2.0, so its parts could not be told apart."
        )
    description, installed = metadata.read(described), Package(package, version, folder)
    before = ExistingFiles.read(data, package)
    ways = [auth for way in description.auth if (auth := metadata.auth(way))]
    hosts = proposed_hosts.proposed(ways, source, keys.slug(package), frozenset(description.samples))
    piece_apps = apps(description, installed, catalog, before.has_brought, hosts, connections.kept(source))
    if description.auth and not piece_apps.auth:
        raise Invalid(
            f"Nobody can connect it here: {piece_apps.left_out[0][1]}"
            if piece_apps.left_out
            else "Nobody can connect it."
        )
    names = _names(description, piece_apps, before, catalog)
    parts = list(_parts(description, piece_apps, installed, names))
    components = tuple(part for part in parts if isinstance(part, Component))
    left_out = [(*way[:1], "connection", way[1]) for way in piece_apps.left_out]
    left_out += [part for part in parts if not isinstance(part, Component)]
    if not components:
        raise Invalid(f"Nothing of it can be called here: {left_out[0][2]}")
    actions, triggers = ([_planned(each, piece_apps) for each in components if each.kind == kind] for kind in _KINDS)
    return Plan(
        title=piece_apps.name,
        description=description.description,
        logo_url=description.logo_url,
        package=installed,
        app=piece_apps.slug,
        apps=piece_apps.made,
        auth=_AUTH[piece_apps.auth_type],
        auth_kind=piece_apps.auth_type,
        hosts=hosts,
        actions=tuple(actions),
        triggers=tuple(triggers),
        left_out=tuple(left_out),
        facts=piece_apps,
        components=components,
        words=languages.translations(description),
    )


def _names(
    description: metadata.Description, piece_apps: Apps, before: ExistingFiles, catalog: Catalog
) -> Mapping[str, Mapping[str, str]]:
    """The names of components by the piece's own, for each kind; triggers and actions share no names."""
    wanted = {"action": list(description.actions), "trigger": list(description.triggers)}
    taken: set[str] = set()
    names: dict[str, Mapping[str, str]] = {}
    for kind, own in wanted.items():
        known = before.names(piece_apps.slug, kind)
        names[kind] = keys.component_names(own, known, _is_taken(catalog, piece_apps.slug, before, taken))
        taken |= set(names[kind].values())
    return names


def _is_taken(catalog: Catalog, slug: str, before: ExistingFiles, taken: set[str]) -> Callable[[str], bool]:
    def is_taken(name: str) -> bool:
        info = catalog.component(key_of(slug, name))
        return name in taken or (info is not None and info.path not in before.files)

    return is_taken


def _parts(
    description: metadata.Description, piece_apps: Apps, package: Package, names: Mapping[str, Mapping[str, str]]
) -> Iterator[Component | tuple[str, str, str]]:
    by_kind: tuple[tuple[metadata.Kind, Mapping[str, Any]], ...] = (
        ("action", description.actions),
        ("trigger", description.triggers),
    )
    for kind, described_parts in by_kind:
        for own, described in described_parts.items():
            part = metadata.part(described)
            if part is None:
                yield own, kind, "It does not describe itself as such a part does."
                continue
            if len(part.props) > metadata.MOST_PROPS:
                yield own, kind, f"It asks for more than {metadata.MOST_PROPS} values."
                continue
            written = component(part, kind, names[kind][own], piece_apps, package)
            yield (part.title or own, kind, written) if isinstance(written, str) else written


def _planned(each: Component, piece_apps: Apps) -> PlannedPart:
    slug = piece_apps.events_app if each.file.piece.strategy == "APP_WEBHOOK" else piece_apps.slug
    return PlannedPart(each.title, key_of(slug, each.name), each.kind, each.labels)


def write(planned: Plan, data: Path, hosts: Sequence[str]) -> None:
    """Write the planned files, with the allowed ``hosts``; other versions of the package stay."""
    root, package = data / "pieces" / "apps", planned.package
    for slug, facts in planned.facts.files.items():
        file, joins = root / slug / "app.toml", "joins" in facts
        if not (joins and file.exists()):  # it may belong to the package that added the app
            _put(file, (b"" if joins else mark(package.name).encode()) + toml(_confirmed(facts, hosts)))
    place = root / planned.app
    for each in planned.components:
        content = each.with_hosts(hosts).to_json()
        _put(place / _FOLDERS[each.kind] / each.name / f"{package.version}.json", content)
    for language, words in planned.words.items():
        name = f"{_label(package.name)}.{language}.json"
        _put(place / "languages" / name, json.dumps(words, ensure_ascii=False).encode())


def remove(data: Path, package: str, versions: Sequence[str] | None = None) -> None:
    """Remove the components of ``package``, all or those of ``versions``, and its apps that are empty then."""
    before = ExistingFiles.read(data, package)
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
    """Write ``file`` atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.new")
    draft.write_bytes(content)
    draft.replace(file)


def _label(package: str) -> str:
    """The name of a package as a file name."""
    return package.removeprefix("@").replace("/", ".")


def _drop_empty(folder: Path) -> None:
    """Remove the folder of a component, and that of its kind, if they are empty."""
    for place in (folder, folder.parent):
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()
