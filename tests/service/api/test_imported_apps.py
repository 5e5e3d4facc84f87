"""Apps are imported, previewed, listed and removed over the API by a client of the whole workspace."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import mcp_server
from tests.fakes.openapi_documents import root
from tests.fakes.public_directory import brought
from webapp.service.api import imported_apps
from webapp.service.api.imported_apps import GZIP
from webapp.service.catalog.importing import plans
from webapp.service.directory import directory
from webapp.service.directory.directory import ABSENT
from webapp.service.domain.base import catalog_file
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run

PATHS = {
    "/pets": {"get": {"operationId": "listPets", "tags": ["Pets"]}, "trace": {}},
    "/old": {"get": {"deprecated": True}},
}
ACME = "/v1/imported_apps/acme"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog is not built anew, which takes seconds."""
    monkeypatch.setattr(catalog_file, "update", lambda service: None)


def put(world: Any, **body: Any) -> Any:
    return world.call("PUT", ACME, world.server(), json=body)


def test_an_app_is_previewed_imported_listed_and_removed(world: Any) -> None:
    document, token = json.dumps(root(PATHS)), world.server()
    preview = put(world, document=document, source="acme.json", preview=True).json
    assert (preview["preview"], preview["added"], preview["auth"], preview["hosts"]) == (
        True, ["get-me", "list-pets"], "key", ["api.acme.example"],
    )  # fmt: skip
    assert preview["operations"][2] == {
        "operation": "GET /old", "title": "Get old", "tags": ["old"], "deprecated": True, "action": None,
        "notes": [], "reason": "it is deprecated; name it to import it all the same",
    }  # fmt: skip
    assert world.get("/v1/imported_apps", token).json == {"data": []}

    packed = GZIP + base64.b64encode(gzip.compress(document.encode())).decode()
    report = put(world, document=packed, source="acme.json", only=["Pets", "GET /old"]).json
    assert (report["preview"], report["added"]) == (False, ["list-pets", "get-old"])
    (listed,) = world.get("/v1/imported_apps", token).json["data"]
    assert (listed["name_slug"], listed["actions"], listed["accounts"], listed["source"]) == ("acme", 2, 0, "acme.json")

    runs.begin(world.service, world.scene, Run("u", "sc_1", "acme-get-old", "0.0.1", "acme", world.clock()), {})
    again = put(world, document=document, only=["Pets"]).json
    assert (again["removed"], again["removed_runs"], again["same"]) == (["get-old"], {"get-old": 1}, ["list-pets"])
    assert world.call("DELETE", ACME, token).status_code == 204
    assert world.call("DELETE", ACME, token).status_code == 404


def test_of_a_document_with_too_many_operations_groups_are_chosen(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (plans, imported_apps):
        monkeypatch.setattr(module, "MOST_ACTIONS", 2)
    document = json.dumps(root({**PATHS, "/v1/shops/{id}": {"get": {}}}))
    preview = put(world, document=document, preview=True).json
    assert (preview["excess"], preview["most"], preview["total"]) == (3, 2, 4)
    assert (preview["operations"], preview["added"]) == ([], [])
    assert preview["groups"] == [
        {"name": "me", "operations": 1}, {"name": "Pets", "operations": 1}, {"name": "shops", "operations": 1},
    ]  # fmt: skip
    refused = put(world, document=document)
    assert refused.status_code == 400 and "3 operations, and an app has 2 at most" in refused.json["error"]
    chosen = put(world, document=document, only=["pets", "shops"]).json
    assert [each["operation"] for each in chosen["operations"]] == ["GET /pets", "GET /v1/shops/{id}"]
    assert (chosen["excess"], chosen["total"], len(chosen["added"])) == (0, 4, 2)
    assert world.call("DELETE", ACME, world.server()).status_code == 204


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "either the document, its url, its name"),
        ({"document": "{}", "url": "https://acme.example"}, "either the document, its url, its name"),
        ({"document": "{}", "directory": "acme.io"}, "either the document, its url, its name"),
        ({"document": "{}", "mcp": {"url": "https://mcp.acme.example"}}, "either the document, its url, its name"),
        ({"mcp": {"url": "http://mcp.acme.example"}}, "Write the address with https://"),
        ({"mcp": {"url": "https://127.0.0.1/mcp"}}, "not on the public internet"),
        ({"mcp": {"url": "https://mcp.acme.example", "account_id": "apn_1"}}, "Name the project and the environment"),
        ({"document": GZIP + "!"}, "no gzip"),
        ({"document": GZIP + base64.b64encode(b"plain").decode()}, "no gzip"),
        ({"document": "a: ["}, "cannot be read as YAML"),
        ({"url": "http://127.0.0.1:1/openapi.json"}, "url is not valid"),
        ({"document": json.dumps(root(PATHS)), "only": ["Cats"]}, "no tag and no operation 'Cats'"),
    ],
)
def test_what_cannot_be_imported_is_reported(world: Any, body: dict[str, Any], told: str) -> None:
    refused = put(world, **body)
    assert refused.status_code == 400
    assert told in refused.json["error"]


def test_a_document_of_the_public_directory_is_imported_with_its_origin(
    world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = put(world, directory="acme.io")
    assert (missing.status_code, missing.json["error"]) == (404, ABSENT)
    brought(world.service.settings.data, tmp_path)
    origin = {"directory": "acme.io", "version": "1.3.17", "date": "2020-09-13"}
    assert put(world, directory="acme.io", preview=True).json["origin"] == origin
    assert put(world, directory="acme.io").json["origin"] == origin
    (listed,) = world.get("/v1/imported_apps", world.server()).json["data"]
    assert (listed["source"], listed["directory"]) == ("directory:acme.io", "acme.io")
    monkeypatch.setattr(world.service.catalog, "imported", {"acme.io": "acme"}.get)  # as it is not built anew here
    assert world.get("/v1/directory?q=acme", world.server()).json["data"][0]["app"] == "acme"
    assert put(world, directory="nothing.io").status_code == 404
    assert put(world, document=json.dumps(root(PATHS))).json["origin"] is None
    assert world.call("DELETE", ACME, world.server()).status_code == 204
    directory.remove(world.service.settings.data)


def test_a_slug_that_is_taken_is_a_conflict(world: Any) -> None:
    body = {"document": json.dumps(root(PATHS))}
    assert world.call("PUT", "/v1/imported_apps/github", world.server(), json=body).status_code == 409
    assert world.call("PUT", "/v1/imported_apps/A-B", world.server(), json=body).status_code == 400


def test_an_mcp_server_is_an_app_too(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with mcp_server.serving(key="right") as server:
        mcp_server.reach(monkeypatch, world.service, server)
        asked = {"url": server.url, "key": "right"}
        preview = put(world, mcp=asked, auth="bearer", preview=True).json
        assert (preview["added"], preview["auth"], preview["hosts"]) == (
            ["search-notes", "erase"], "bearer", [server.host],
        )  # fmt: skip
        assert [each["operation"] for each in preview["operations"]] == ["search_notes", "erase"]
        report = put(world, mcp=asked, auth="bearer")
        assert report.status_code == 200
        assert b"right" not in report.data
        (listed,) = world.get("/v1/imported_apps", world.server()).json["data"]
        assert (listed["source"], listed["name"]) == (f"mcp:{server.url}", "Notes")
        refused = put(world, mcp={**asked, "key": "wr0ng"}, auth="bearer")
        assert (refused.status_code, "wr0ng" in refused.text) == (400, False)
        assert "does not accept this key" in refused.json["error"]
