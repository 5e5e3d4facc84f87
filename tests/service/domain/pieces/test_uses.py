"""What integrations are used for.

An app and a component say from which npm package they were added.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.service.domain.pieces.conftest import CONTENTS
from tests.service.domain.pieces.planted import plant, plant_ready
from webapp.service.components.pieces import form
from webapp.service.components.pieces.form import ComponentFile
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import uses
from webapp.service.domain.pieces.uses import Origin, Uses

SHOP = Origin("@acme/piece-shop", "1.0.0", "MIT", "Acme", "registry")


def test_what_nobody_uses_has_no_words(service: Service, added: Any) -> None:
    piece = added()
    counts = uses.uses_of(service.store, [CONTENTS])
    assert (counts.accounts, counts.triggers, counts.sentence) == (0, 0, "")
    assert uses.pinned(service.store, piece) == set()


def test_accounts_and_triggers_are_counted_in_words() -> None:
    assert Uses(4, Counter({"1.0.0": 1, "1.1.0": 1})).sentence == "4 accounts, 2 triggers"
    assert Uses(0, Counter({"1.0.0": 1})).sentence == "1 trigger"


def test_an_app_names_what_was_added_to_it(service: Service) -> None:
    plant_ready(service, "market")
    assert uses.of_app(service.store, "shop") == []
    plant(service)
    assert uses.of_app(service.store, "shop") == [SHOP]
    assert uses.of_app(service.store, "sandbox") == []
    assert SHOP.to_json()["licence"] == "MIT"


def test_a_component_names_its_package(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    component: Any = service.catalog.component("sandbox-find-tasks")
    assert uses.of_component(service.store, component) is None
    of_piece = replace(component, path=Path("/nowhere/1.0.0.json"))
    assert uses.of_component(service.store, of_piece) is None, "its file is gone"
    part = form.PieceForm(package=SHOP.package, version="1.0.0", folder="packages/shop/1.0.0", kind="action", name="x")
    file = ComponentFile.model_construct(piece=part)
    monkeypatch.setattr(form, "read", lambda path: file)
    assert uses.of_component(service.store, of_piece) == replace(SHOP, licence="", author="")
    plant(service)
    assert uses.of_component(service.store, of_piece) == SHOP
