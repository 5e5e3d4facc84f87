"""Integrations at each point of their way, without a registry and without Node."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webapp.service.components.pieces import node
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import adding, rows
from webapp.service.domain.instance.pieces.contents import Contents, Part
from webapp.service.domain.instance.pieces.rows import Piece, PieceVersion

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
        adding.begin(service, NAME, version)
        piece = rows.claim(service)
        assert piece is not None
        brought = PieceVersion(
            rows.version_id(piece.id, version), piece.id, version, "{}", "d", 2048, None, "MIT", "Permission.", "Acme",
            contents.to_json(), service.clock(),
        )  # fmt: skip
        with service.store.write() as tx:
            rows.keep_version(tx, brought, {})
            assert rows.change(tx, piece, state="ready", step=3, holder=0, title="Shop", **changes)
        return rows.get(service.store, piece.id)

    return bring_it


@pytest.fixture
def added(service: Service, bring: Bring) -> Callable[..., Piece]:
    """Brings a version, and adds it as the worker does."""

    def add(version: str = "1.0.0", contents: Contents = CONTENTS) -> Piece:
        piece = adding.confirm(service, bring(version, contents).id, ["api.shop.example"], shown=True)
        with service.store.write() as tx:
            assert rows.change(tx, piece, state="added", version=version, wanted="", step=0)
        return rows.get(service.store, piece.id)

    return add
