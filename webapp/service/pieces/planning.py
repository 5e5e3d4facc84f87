"""What a version of a piece would add to the catalog, before anything is written: its apps, its parts and its hosts.

A part that cannot be called here is left out with a reason. Nothing of the piece runs.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webapp.errors import Invalid
from webapp.service.catalog.index import Catalog
from webapp.service.pieces import keys, languages, metadata, reach
from webapp.service.pieces.components import Component, component
from webapp.service.pieces.connecting import token_data
from webapp.service.pieces.connecting.apps import Apps, Package, apps
from webapp.service.pieces.standing import Standing

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_KINDS: tuple[metadata.Kind, ...] = ("action", "trigger")
_AUTH = {"oauth": "People sign in at the service.", "keys": "People enter a key.", "none": "Nobody has to connect."}


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """An action or trigger that will be there: its name for people, its key, and the labels of its props by name."""

    name: str
    key: str
    kind: str
    props: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a version of a package adds. ``app`` is the slug that its parts belong to, ``apps`` those that it makes.

    ``auth`` says how people connect, ``hosts`` are those that are proposed to be reached, and ``left_out`` are parts
    that cannot be called here: name, kind and reason.
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
    """What the description of ``package`` in ``version``, installed in ``folder`` of ``DATA/pieces``, would add.

    ``source`` is the text of its program, in which addresses are looked for. Raises :class:`Invalid` for what cannot be
    added at all.
    """
    if not _VERSION.fullmatch(version):
        raise Invalid(
            f"{version} is not a version of three numbers, such as 1.2.0, so its parts could not be told apart."
        )
    description, installed = metadata.read(described), Package(package, version, folder)
    before = Standing.read(data, package)
    ways = [auth for told in description.auth if (auth := metadata.auth(told))]
    hosts = reach.proposed(ways, source, keys.slug(package), frozenset(description.samples))
    piece_apps = apps(description, installed, catalog, before.has_brought, hosts, token_data.kept(source))
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
    description: metadata.Description, piece_apps: Apps, before: Standing, catalog: Catalog
) -> Mapping[str, Mapping[str, str]]:
    """The names of components by the piece's own, for each kind; a trigger and an action never share one."""
    wanted = {"action": list(description.actions), "trigger": list(description.triggers)}
    taken: set[str] = set()
    names: dict[str, Mapping[str, str]] = {}
    for kind, own in wanted.items():
        known = before.names(piece_apps.slug, kind)
        names[kind] = keys.component_names(own, known, _is_taken(catalog, piece_apps.slug, before, taken))
        taken |= set(names[kind].values())
    return names


def _is_taken(catalog: Catalog, slug: str, before: Standing, taken: set[str]) -> Callable[[str], bool]:
    def is_taken(name: str) -> bool:
        info = catalog.component(f"{slug}-{name}")
        return name in taken or (info is not None and info.path not in before.files)

    return is_taken


def _parts(
    description: metadata.Description, piece_apps: Apps, package: Package, names: Mapping[str, Mapping[str, str]]
) -> Iterator[Component | tuple[str, str, str]]:
    by_kind: tuple[tuple[metadata.Kind, Mapping[str, Any]], ...] = (
        ("action", description.actions),
        ("trigger", description.triggers),
    )
    for kind, told in by_kind:
        for own, described in told.items():
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
    slug = piece_apps.hearing if each.file.piece.strategy == "APP_WEBHOOK" else piece_apps.slug
    return PlannedPart(each.title, f"{slug}-{each.name}", each.kind, each.labels)
