"""Tries a package: reads its description and plans its components.

The package is loaded in a process without a network, an account or a user.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webapp.errors import Invalid
from webapp.service.components.pieces.package_calls import PackageCall
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import pieces
from webapp.service.domain.pieces.pieces import Contents, LeftOut, Part, Piece, PieceVersion
from webapp.service.pieces.installer import InstalledPackage, read_manifest
from webapp.service.pieces.packages import MODULES, Places

if TYPE_CHECKING:
    from webapp.service.pieces.plans import Plan


DEADLINE_S = 60.0
MOST_SOURCE = 32 << 20
WRITTEN = "written"
"""Names a version whose components stand on this machine, beside its package."""
FORM = 2
"""Counts how the same package is written; those of an earlier form are written anew."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of a trial: the version as it is stored, and the texts for people."""

    version: PieceVersion
    described: Mapping[str, Any]
    title: str
    description: str


def try_it(service: Service, piece: Piece, brought: InstalledPackage, published_at: int | None) -> Tried:
    """Try ``brought``. Raises :class:`Invalid`, with a sentence, if it cannot be used."""
    place = Places(service.settings.data).package(piece.folder, brought.version)
    reply = service.executor.ask_package(PackageCall(place, piece.package, "describe", deadline_s=DEADLINE_S))
    if not reply.ok or not isinstance(reply.value, Mapping):
        reason = reply.error.message if reply.error else "It does not say what it holds."
        raise Invalid(f"{piece.package} {brought.version} cannot be used here. {reason}")
    planned = plan(service, piece, brought.version, reply.value)
    version = PieceVersion(
        id=pieces.version_id(piece.id, brought.version),
        piece_id=piece.id,
        version=brought.version,
        lock_file=brought.lock,
        digest=brought.digest,
        size=brought.size,
        published_at=published_at,
        licence=brought.licence,
        licence_text=brought.licence_text,
        author=brought.author,
        contents=_contents(planned).to_json(),
        brought_at=service.clock(),
        source=piece.source,
        origin=piece.origin,
    )
    return Tried(version, reply.value, planned.title, planned.description)


def plan(service: Service, piece: Piece, version: str, described: Mapping[str, Any]) -> "Plan":
    """Plan the catalog's part of a version with the description ``described``. Raises :class:`Invalid`."""
    from webapp.service.pieces import plans

    places = Places(service.settings.data)
    place = places.package(piece.folder, version)
    return plans.plan(
        dict(described),
        package=piece.package,
        version=version,
        folder=place.relative_to(places.root).as_posix(),
        data=places.data,
        catalog=service.catalog,
        source=source_of(place / MODULES / piece.package),
    )


def write(service: Service, piece: Piece, version: PieceVersion) -> None:
    """Write the components of ``version`` to this machine. Raises :class:`Invalid`."""
    from webapp.service.pieces import plans

    data = service.settings.data
    described = pieces.description(service.store, version)
    plans.write(plan(service, piece, version.version, described), data, piece.hosts)
    (Places(data).package(piece.folder, version.version) / WRITTEN).write_text(_mark(piece))


def is_written(data: Path, piece: Piece, version: str) -> bool:
    """Whether the components of that version are on this machine, with the hosts that ``piece`` may reach."""
    try:
        mark = (Places(data).package(piece.folder, version) / WRITTEN).read_text()
    except OSError:
        return False
    return mark == _mark(piece)


def remove(data: Path, package: str, version: str | None = None) -> None:
    """Remove the components of a version from this machine, or of all."""
    from webapp.service.pieces import plans

    plans.remove(data, package, None if version is None else [version])


def source_of(folder: Path) -> str:
    """The text of the package's own programs, which is searched for addresses."""
    main = folder / str(read_manifest(folder).get("main") or "index.js")
    inside = main.resolve().is_relative_to(folder.resolve()) and main.is_file()
    bundled = inside and main.stat().st_size > 100_000
    files = [main] if bundled else sorted(folder.rglob("*.js"))
    left, texts = MOST_SOURCE, []
    for file in files:
        text = file.read_bytes()[:left]
        left -= len(text)
        texts.append(text.decode("utf-8", "replace"))
    return "\n".join(texts)


def _mark(piece: Piece) -> str:
    return json.dumps([FORM, piece.hosts])


def _contents(planned: "Plan") -> Contents:
    actions, triggers = (
        tuple(Part(part.name, part.key, dict(part.props)) for part in parts)
        for parts in (planned.actions, planned.triggers)
    )
    return Contents(
        app=planned.app,
        apps=tuple(planned.apps),
        auth=planned.auth,
        hosts=tuple(planned.hosts),
        actions=actions,
        triggers=triggers,
        left_out=tuple(LeftOut(*each) for each in planned.left_out),
    )
