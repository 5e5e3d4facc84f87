"""Integrations that were added from npm packages, and their versions (tables ``pieces`` and ``piece_versions``).

    adding ──▶ ready ──confirm──▶ writing ──▶ added ──begin──▶ adding …
       └─────────┴───────────────────┴──▶ failed

One process works on a row and holds it by its generation. A process that claims a row increments ``turn``, so that the
previous holder can no longer write. New calls use ``version`` while another is installed. What a version adds to the
catalog, its :class:`Contents`, is stored with it as JSON.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
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
    """One integration; the comments of the table describe its columns. Times are epoch milliseconds.

    ``source`` and ``origin`` are those of ``wanted``, or of the last version that was wanted.
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
    """One version that was installed on some machine; ``source`` and ``origin`` say from where."""

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
    """Write ``changes`` to the row, unless another process has claimed it since ``piece`` was read."""
    return held(tx, piece) is not None and bool(_PIECES.update(tx, piece.id, **changes))


def held(reader: Reader, piece: Piece) -> Piece | None:
    """The row as it is now, unless another process has claimed it since ``piece`` was read."""
    return _PIECES.one(reader, "id = :id AND turn = :turn", {"id": piece.id, "turn": piece.turn})


def is_current(reader: Reader, piece: Piece) -> bool:
    """Whether no process has claimed the row since ``piece`` was read, and no owner stopped it."""
    now = held(reader, piece)
    return now is not None and not now.stopping


def delete(tx: Tx, piece: Piece) -> None:
    """Delete the row with its versions."""
    _PIECES.delete(tx, piece.id)


def claim(service: Service) -> Piece | None:
    """Claim the next row with work that no process holds; None if there is none."""
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
    """The installed versions, of one integration or all; the oldest first."""
    where, params = ("1 = 1", {}) if piece_id is None else ("piece_id = :id", {"id": piece_id})
    return _VERSIONS.all(reader, f"{where} ORDER BY brought_at, id", params)


def version(reader: Reader, piece: Piece, number: str) -> PieceVersion | None:
    """That version of ``piece``, if it was installed."""
    return _VERSIONS.get(reader, version_id(piece.id, number))


def version_id(piece_id: str, number: str) -> str:
    """The key of a row of ``piece_versions``."""
    return f"{piece_id} {number}"


def description(reader: Reader, version: PieceVersion) -> Any:
    """The description that the package gave when it was tried, which may be long."""
    rows = reader.tuples("SELECT description FROM piece_versions WHERE id = :id", {"id": version.id})
    return json.loads(rows[0][0]) if rows else None


def keep_version(tx: Tx, brought: PieceVersion, described: Any) -> None:
    """Store a version with its description ``described``, replacing one with its number."""
    _VERSIONS.upsert(tx, brought, keep=(), description=json.dumps(described))


def forget_version(tx: Tx, piece: Piece, number: str) -> None:
    """Forget a version."""
    _VERSIONS.delete(tx, version_id(piece.id, number))


@dataclass(frozen=True, slots=True)
class Part:
    """An action or trigger: its name for people, its key in the catalog, and the labels of its props by their names."""

    name: str
    key: str
    props: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part that cannot be expressed or run here, and a sentence that says why."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Contents:
    """``app`` is the slug of the app of its components, and ``apps`` are its own; ``auth`` says how people connect.

    ``hosts`` are the proposed ones.
    """

    app: str = ""
    apps: tuple[str, ...] = ()
    auth: str = ""
    hosts: tuple[str, ...] = ()
    actions: tuple[Part, ...] = ()
    triggers: tuple[Part, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The stored form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of another version: parts that it adds or removes, and parts with added or removed props."""

    added: tuple[Part, ...] = ()
    gone: tuple[Part, ...] = ()
    changed: tuple[tuple[Part, str], ...] = ()

    @property
    def breaks(self) -> bool:
        """Whether users of the previous version may be affected."""
        return bool(self.gone or self.changed)

    @property
    def sentence(self) -> str:
        """In a few words, such as "changes 2 actions"."""
        count = len(self.gone) + len(self.changed)
        return f"changes {count} part{'' if count == 1 else 's'}" if count else "nothing breaks"


def contents_of(version: PieceVersion | None) -> Contents:
    """The contents of that version; empty before it was tried, or if the stored form cannot be read."""
    try:
        return _read(version.contents) if version else Contents()
    except (TypeError, ValueError, AttributeError):
        return Contents()


def _read(kept: Mapping[str, Any]) -> Contents:
    parts = {name: tuple(Part(**each) for each in kept.get(name, ())) for name in ("actions", "triggers")}
    return Contents(
        app=kept.get("app", ""),
        apps=tuple(kept.get("apps", ())),
        auth=kept.get("auth", ""),
        hosts=tuple(kept.get("hosts", ())),
        left_out=tuple(LeftOut(**each) for each in kept.get("left_out", ())),
        **parts,
    )


def changes_between(before: Contents, after: Contents) -> Changes:
    """What ``after`` changes of ``before``."""
    old, new = _by_key(before), _by_key(after)
    both = [(old[key], new[key]) for key in old if key in new]
    return Changes(
        tuple(part for key, part in new.items() if key not in old),
        tuple(part for key, part in old.items() if key not in new),
        tuple((part, description) for earlier, part in both if (description := _described(earlier, part))),
    )


def _by_key(contents: Contents) -> dict[str, Part]:
    return {part.key: part for part in (*contents.actions, *contents.triggers)}


def _described(before: Part, after: Part) -> str:
    """A sentence about changed props of a part that may affect users; "" for none."""
    gone = [label for name, label in before.props.items() if name not in after.props]
    return f"No longer asks for {_listed(gone)}." if gone else ""


def _listed(labels: Sequence[str]) -> str:
    return f"{', '.join(labels[:-1])} and {labels[-1]}" if len(labels) > 1 else labels[0]
