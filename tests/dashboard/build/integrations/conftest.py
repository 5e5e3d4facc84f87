"""An office whose machine has Node, and integrations in it that go with the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dashboard.embedded import Embedded
from tests.service.domain.instance.pieces import planted
from webapp.service.components.pieces import node
from webapp.service.domain.instance import opening
from webapp.service.domain.instance.pieces import rows
from webapp.service.domain.instance.pieces.rows import Piece

Plant = Callable[..., Piece]


@pytest.fixture(autouse=True)
def machine(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """It has Node, and the catalog is not built anew; nothing is added before or after."""
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "22.1.0"))
    monkeypatch.setattr(opening, "update_catalog", lambda service: None)
    yield
    with office.service.store.write() as tx:
        for piece in rows.all_of(tx):
            rows.delete(tx, piece)


@pytest.fixture
def plant(office: Embedded) -> Plant:
    """Adds an integration."""
    return lambda *name, **facts: planted.plant(office.service, *name, **facts)


@pytest.fixture
def plant_ready(office: Embedded) -> Plant:
    """One that waits to be confirmed."""
    return lambda *name, **facts: planted.plant_ready(office.service, *name, **facts)
