"""Whose work it is that people see: which integrations brought parts of an app, and which one a component is of."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.errors import LoadError
from webapp.service.components.pieces import form
from webapp.service.domain.instance.pieces import contents, rows
from webapp.store.contract import Reader


@dataclass(frozen=True, slots=True)
class Origin:
    """An npm package, the version of it that is in use, its licence, and where that version came from."""

    package: str
    version: str
    licence: str
    author: str
    source: rows.Origin

    def to_json(self) -> dict[str, Any]:
        """As the API shows it."""
        return asdict(self)


def of_app(reader: Reader, slug: str) -> Sequence[Origin]:
    """The integrations that brought the app ``slug``, or parts of it."""
    brought = [(piece.package, rows.version(reader, piece, piece.version)) for piece in rows.all_of(reader)]
    return [
        Origin(package, version.version, version.licence, version.author, version.source)
        for package, version in brought
        if version is not None and slug in (contents.of(version).app, *contents.of(version).apps)
    ]


def of_component(reader: Reader, component: ComponentInfo) -> Origin | None:
    """The integration that ``component`` is of, in its version; None for one that is not from npm."""
    if not component.of_piece:
        return None
    try:
        part = form.read(component.path).piece
    except LoadError:
        return None
    piece = rows.of_package(reader, part.package)
    version = rows.version(reader, piece, part.version) if piece else None
    if version is None:
        return Origin(part.package, part.version, "", "", "registry")
    return Origin(part.package, part.version, version.licence, version.author, version.source)
