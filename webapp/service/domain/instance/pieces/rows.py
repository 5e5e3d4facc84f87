"""Integrations that were added from npm packages (tables ``pieces`` and ``piece_versions``).

    adding ──▶ ready ──confirm──▶ writing ──▶ added ──begin──▶ adding …
       └─────────┴───────────────────┴──▶ failed

A row is worked on by one process, which holds it by its generation; each who takes it up raises ``turn``, and whoever
held it before writes nothing more. ``version`` is what new calls use while another is brought.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from webapp.errors import NotFound
from webapp.service.domain.base.service import Service
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

State = Literal["adding", "ready", "writing", "added", "failed"]
Origin = Literal["registry", "tarball", "offline", "folder"]
ABSENT = "There is no such integration."


@dataclass(frozen=True, slots=True)
class Piece:
    """One integration; the comments of the table say what its columns are. Times are epoch milliseconds.

    ``source`` and ``origin`` say where ``wanted`` comes from, or what was wanted last.
    """

    id: str
    package: str
    folder: str
    source: Origin
    origin: str
    title: str
    summary: str
    version: str
    hidden: bool
    hosts: tuple[str, ...]
    state: State
    wanted: str
    step: int
    error: str
    stopping: bool
    holder: int
    turn: int
    newest: str
    looked_at: int
    added_at: int
    changed_at: int


@dataclass(frozen=True, slots=True)
class PieceVersion:
    """One version that was brought, whichever machine has it on its disk; ``source`` and ``origin`` say from where."""

    id: str
    piece_id: str
    version: str
    lock_file: str = field(repr=False)
    digest: str
    size: int
    published_at: int | None
    licence: str
    licence_text: str = field(repr=False)
    author: str
    contents: Mapping[str, Any] = field(repr=False)
    brought_at: int
    source: Origin = "registry"
    origin: str = ""


_PIECES = Table("pieces", Piece)
_VERSIONS = Table("piece_versions", PieceVersion, write_only=("description",))


def all_of(reader: Reader) -> list[Piece]:
    """Every integration, by title."""
    return sorted(_PIECES.all(reader, "1 = 1"), key=lambda piece: (piece.title.casefold(), piece.package))


def get(reader: Reader, piece_id: str) -> Piece:
    """The integration with that id. Raises :class:`NotFound`."""
    piece = _PIECES.get(reader, piece_id)
    if piece is None:
        raise NotFound(ABSENT)
    return piece


def of_package(reader: Reader, package: str) -> Piece | None:
    """The integration of that npm package, if there is one."""
    return _PIECES.one(reader, "package = :package", {"package": package})


def insert(tx: Tx, piece: Piece) -> None:
    """Add a row. Raises :class:`webapp.errors.Conflict` where the package has one."""
    _PIECES.insert(tx, piece)


def change(tx: Tx, piece: Piece, **changes: Any) -> bool:
    """Write ``changes`` to the row, unless somebody else has taken it up since ``piece`` was read."""
    return held(tx, piece) is not None and bool(_PIECES.update(tx, piece.id, **changes))


def held(reader: Reader, piece: Piece) -> Piece | None:
    """The row as it is now, unless somebody else has taken it up since ``piece`` was read."""
    return _PIECES.one(reader, "id = :id AND turn = :turn", {"id": piece.id, "turn": piece.turn})


def is_current(reader: Reader, piece: Piece) -> bool:
    """Whether nobody has taken the row up since ``piece`` was read, and nobody asked to stop."""
    now = held(reader, piece)
    return now is not None and not now.stopping


def delete(tx: Tx, piece: Piece) -> None:
    """Delete the row with its versions."""
    _PIECES.delete(tx, piece.id)


def claim(service: Service) -> Piece | None:
    """Take up the next row on which there is something to do and nobody works; None for none."""
    waiting = "state IN ('adding', 'writing') AND holder = 0 ORDER BY changed_at, id"
    if service.store.one(f"SELECT 1 FROM pieces WHERE {waiting} LIMIT 1") is None:  # noqa: S608 - a constant
        return None
    with service.store.write() as tx:
        piece = _PIECES.one(tx, f"{waiting} LIMIT 1")
        if piece is None:
            return None
        _PIECES.update(tx, piece.id, holder=service.generation, turn=piece.turn + 1)
        return _PIECES.get(tx, piece.id)


def take_over(tx: Tx, service: Service, dead: int) -> None:
    """Let others take up what the generation ``dead`` worked on."""
    tx.run("UPDATE pieces SET holder = 0 WHERE holder = :dead", {"dead": dead})


def versions(reader: Reader, piece_id: str | None = None) -> list[PieceVersion]:
    """The versions that were brought, of one integration or all; the oldest first."""
    where, params = ("1 = 1", {}) if piece_id is None else ("piece_id = :id", {"id": piece_id})
    return _VERSIONS.all(reader, f"{where} ORDER BY brought_at, id", params)


def version(reader: Reader, piece: Piece, number: str) -> PieceVersion | None:
    """That version of ``piece``, if it was brought."""
    return _VERSIONS.get(reader, version_id(piece.id, number))


def version_id(piece_id: str, number: str) -> str:
    """The key of a row of ``piece_versions``."""
    return f"{piece_id} {number}"


def description(reader: Reader, version: PieceVersion) -> Any:
    """What the package said of itself when it was tried, which may be long."""
    rows = reader.tuples("SELECT description FROM piece_versions WHERE id = :id", {"id": version.id})
    return json.loads(rows[0][0]) if rows else None


def keep_version(tx: Tx, brought: PieceVersion, described: Any) -> None:
    """Write down a version that said ``described`` of itself, over one with its number."""
    _VERSIONS.upsert(tx, brought, keep=(), description=json.dumps(described))


def forget_version(tx: Tx, piece: Piece, number: str) -> None:
    """Forget a version."""
    _VERSIONS.delete(tx, version_id(piece.id, number))
