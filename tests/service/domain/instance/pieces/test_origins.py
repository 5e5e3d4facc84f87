"""An app and a component say from which npm package they were added."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.service.domain.instance.pieces.planted import plant, plant_ready
from webapp.service.components.pieces import form
from webapp.service.components.pieces.form import ComponentFile
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import origins
from webapp.service.domain.instance.pieces.origins import Origin

SHOP = Origin("@acme/piece-shop", "1.0.0", "MIT", "Acme", "registry")


def test_an_app_names_what_was_added_to_it(service: Service) -> None:
    plant_ready(service, "market")
    assert origins.of_app(service.store, "shop") == []
    plant(service)
    assert origins.of_app(service.store, "shop") == [SHOP]
    assert origins.of_app(service.store, "sandbox") == []
    assert SHOP.to_json()["licence"] == "MIT"


def test_a_component_names_its_package(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    component: Any = service.catalog.component("sandbox-find-tasks")
    assert origins.of_component(service.store, component) is None
    of_piece = replace(component, path=Path("/nowhere/1.0.0.json"))
    assert origins.of_component(service.store, of_piece) is None, "its file is gone"
    part = form.PieceForm(package=SHOP.package, version="1.0.0", folder="packages/shop/1.0.0", kind="action", name="x")
    file = ComponentFile.model_construct(piece=part)
    monkeypatch.setattr(form, "read", lambda path: file)
    assert origins.of_component(service.store, of_piece) == replace(SHOP, licence="", author="")
    plant(service)
    assert origins.of_component(service.store, of_piece) == SHOP
