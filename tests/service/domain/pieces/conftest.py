"""Integrations at each point of their way, without a registry and without Node."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webapp.service.components.pieces import node
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import owner_decisions, pieces
from webapp.service.domain.pieces.pieces import Contents, Part, Piece, PieceVersion

NAME = "@activepieces/piece-shop"
CONTENTS = Contents(
    "shop", ("shop",), "People connect with a key", ("api.shop.example",),
    (Part("Create order", "shop-create-order", {"title": "Title", "note": "Note"}),),
    (Part("New order", "shop-new-order"),),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _node(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has Node, whatever it has."""
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "20.0.0"))


Bring = Callable[..., Piece]


@pytest.fixture
def bring(service: Service) -> Bring:
    """Brings a version as the worker does, until it waits for its owner."""

    def bring_it(version: str = "1.0.0", contents: Contents = CONTENTS, **changes: Any) -> Piece:
        owner_decisions.begin(service, NAME, version)
        piece = pieces.claim(service)
        assert piece is not None
        brought = PieceVersion(
            pieces.version_id(piece.id, version), piece.id, version, "{}", "d", 2048, None, "MIT", "Permission.",
            "Acme",
            contents.to_json(), service.clock(),
        )  # fmt: skip
        with service.store.write() as tx:
            pieces.keep_version(tx, brought, {})
            assert pieces.change(tx, piece, state="ready", step=3, holder=0, title="Shop", **changes)
        return pieces.get(service.store, piece.id)

    return bring_it


@pytest.fixture
def added(service: Service, bring: Bring) -> Callable[..., Piece]:
    """Brings a version, and adds it as the worker does."""

    def add(version: str = "1.0.0", contents: Contents = CONTENTS) -> Piece:
        piece = owner_decisions.confirm(service, bring(version, contents).id, ["api.shop.example"], shown=True)
        with service.store.write() as tx:
            assert pieces.change(tx, piece, state="added", version=version, wanted="", step=0)
        return pieces.get(service.store, piece.id)

    return add
