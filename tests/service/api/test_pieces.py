"""Integrations are looked for, looked at, confirmed, changed and removed over the API by a client of the workspace."""

from pathlib import Path
from typing import Any

import pytest

from tests.service.domain.pieces.planted import plant, plant_ready
from webapp.service.components.pieces import node
from webapp.service.domain.base import catalog_file, piece_hosts
from webapp.service.pieces.registry import Registry, Release, Results

PIECES = "/v1/pieces"


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has Node, and the catalog is not built anew."""
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "22.1.0"))
    monkeypatch.setattr(catalog_file, "update", lambda service: None)


def send(world: Any, method: str, path: str, **body: Any) -> Any:
    return world.call(method, f"{PIECES}{path}", world.server(), **({"json": body} if body else {}))


def test_one_is_looked_at_and_stopped(world: Any) -> None:
    begun = send(world, "POST", "", name="fakturoid").json
    assert (begun["package"], begun["state"], begun["step"]) == ("@activepieces/piece-fakturoid", "adding", 1)
    assert send(world, "POST", "", name="fakturoid").status_code == 409
    assert send(world, "POST", "", name="../x").status_code == 400
    assert send(world, "POST", f"/{begun['id']}/stop").status_code == 204
    assert world.get(PIECES, world.server()).json == {"data": [], "node": "22.1.0"}


def test_what_waits_is_told_whole_and_confirmed(world: Any) -> None:
    path = f"/{plant_ready(world.service).id}"
    ready = send(world, "GET", path).json
    assert (ready["version"], ready["wanted"], ready["changes"]) == ("", "1.0.0", None)
    assert [part["name"] for part in ready["actions"]] == ["Create order", "Find order"]
    assert (ready["proposed_hosts"], ready["licence_text"]) == (["api.shop.example"], "Permission is granted.")
    assert ready["left_out"][0]["kind"] == "action" and ready["auth"] == "People connect with a key"
    assert send(world, "POST", f"{path}/confirm", hosts=["https://x/"]).status_code == 400
    other = send(world, "POST", f"{path}/confirm", hosts=["api.shop.example"], version="0.9.0")
    assert other.status_code == 409 and "1.0.0 was brought meanwhile" in other.json["error"]
    order = {"hosts": ["api.shop.example"], "hidden": True, "version": "1.0.0"}
    confirmed = send(world, "POST", f"{path}/confirm", **order).json
    assert (confirmed["state"], confirmed["hosts"], confirmed["hidden"]) == ("writing", ["api.shop.example"], True)
    assert send(world, "POST", f"{path}/confirm", hosts=[]).status_code == 409


def test_a_newer_version_tells_what_it_changes(world: Any) -> None:
    piece = plant(world.service, state="ready", wanted="1.1.0", newest="1.1.0")
    told = send(world, "GET", f"/{piece.id}").json
    assert (told["version"], told["newer"]) == ("1.0.0", True)
    assert told["changes"] == {"added": [], "gone": ["Find order"], "changed": [], "hosts": ["files.shop.example"]}


def test_the_registry_is_asked_for_newer_ones_at_once(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = plant(world.service)
    monkeypatch.setattr(Registry, "look_up", lambda *_: Release(piece.package, "1.2.0", "1.2.0"))
    (told,) = send(world, "POST", "/look").json["data"]
    assert (told["newest"], told["newer"], told["origin"]) == ("1.2.0", True, "")


def test_its_reach_and_whether_people_see_it_are_changed(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = plant(world.service)
    monkeypatch.setattr(piece_hosts, "package_of", lambda path: piece.package)
    piece_hosts.note(world.service, "x.json", ["cdn.shop.example"])
    assert send(world, "GET", f"/{piece.id}").json["refused_hosts"][0]["host"] == "cdn.shop.example"
    allowed = send(world, "POST", f"/{piece.id}/allow", host="cdn.shop.example").json
    assert (allowed["hosts"], allowed["refused_hosts"]) == (["api.shop.example", "cdn.shop.example"], [])
    changed = send(world, "PATCH", f"/{piece.id}", hosts=["*.shop.example"], hidden=True).json
    assert (changed["hosts"], changed["hidden"]) == (["*.shop.example"], True)
    assert send(world, "PATCH", f"/{piece.id}", hidden=False).json["hidden"] is False


def test_one_is_removed_but_not_while_it_is_used(world: Any) -> None:
    path = f"/{plant(world.service).id}"
    world.plant(app="shop", values={})
    refused = send(world, "DELETE", path)
    assert refused.status_code == 409 and "1 account" in refused.json["error"]
    assert send(world, "DELETE", f"{path}?with_uses=true").status_code == 204
    assert send(world, "DELETE", path).status_code == 404


def test_packages_are_found_with_what_is_here(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = plant(world.service)
    releases = [Release(name, "1.2.0", "1.2.0", licence="MIT") for name in (piece.package, "@activepieces/piece-slack")]
    monkeypatch.setattr(Registry, "search", lambda *_: Results(tuple(releases), exact=True))
    found = world.get("/v1/piece_packages", world.server(), query_string={"q": "shop"}).json
    assert found["by_name"] is True
    assert [(each["here"], each["app"], each["piece_id"]) for each in found["data"]] == [
        ("added", "", piece.id), ("builtin", "slack", ""),
    ]  # fmt: skip
