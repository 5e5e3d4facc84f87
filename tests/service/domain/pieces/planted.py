"""Integrations put into a service, at each point of their way, without a registry and without Node."""

from dataclasses import replace
from typing import Any

from webapp.kit.crypto import new_id
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import pieces
from webapp.service.domain.pieces.pieces import Contents, LeftOut, Part, Piece, PieceVersion

CONTENTS = Contents(
    "shop", ("shop",), "People connect with a key", ("api.shop.example",),
    (Part("Create order", "shop-create-order", {"title": "Title"}), Part("Find order", "shop-find-order")),
    (Part("New order", "shop-new-order"),),
    (LeftOut("Wait", "action", "It needs waitpoints, which Patchbay does not have."),),
)  # fmt: skip
NEWER = replace(CONTENTS, actions=(CONTENTS.actions[0],), hosts=("api.shop.example", "files.shop.example"))
_READY = {"state": "ready", "wanted": "1.0.0", "step": 3, "hidden": True}
_ADDED = {"state": "added", "version": "1.0.0", "step": 0, "hosts": ("api.shop.example",)}


def plant(service: Service, name: str = "shop", **facts: Any) -> Piece:
    """The integration ``name`` with these columns; added, unless they say otherwise."""
    now = service.clock()
    common = {
        "id": new_id("pc"), "package": f"@acme/piece-{name}", "folder": f"acme-piece-{name}", "source": "registry",
        "origin": "", "title": name.capitalize(), "summary": "Orders and stock", "version": "", "hidden": False,
        "hosts": (), "wanted": "", "error": "", "stopping": False, "holder": 0, "turn": 0, "newest": "1.0.0",
        "looked_at": now, "added_at": now, "changed_at": now,
    }  # fmt: skip
    piece = Piece(**{**common, **_ADDED, **facts})
    kept = {piece.version: CONTENTS, piece.wanted: NEWER if piece.version else CONTENTS}
    with service.store.write() as tx:
        pieces.insert(tx, piece)
        for number, contents in kept.items():
            if number:
                pieces.keep_version(tx, _version(piece, number, contents, now), {})
    return piece


def _version(piece: Piece, number: str, contents: Contents, now: int) -> PieceVersion:
    key, licence = pieces.version_id(piece.id, number), ("MIT", "Permission is granted.", "Acme")
    lock = '{"packages": {}}'
    return PieceVersion(key, piece.id, number, lock, "digest", 2048, now, *licence, contents.to_json(), now)


def plant_ready(service: Service, name: str = "shop", **facts: Any) -> Piece:
    """One that waits to be confirmed."""
    return plant(service, name, **{"version": "", "hosts": (), **_READY, **facts})


def plant_pieces(service: Service) -> dict[str, str]:
    """The ids of some, by what the examples of the API call them."""
    return {
        "PIECE_ID": plant(service).id,
        "READY_PIECE_ID": plant_ready(service, "market").id,
        "PIECE_TO_STOP_ID": plant_ready(service, "stall").id,
        "PIECE_TO_DELETE_ID": plant(service, "kiosk").id,
    }
