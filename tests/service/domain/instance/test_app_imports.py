"""Apps are imported into an installation that runs, with a record of who did so, and removed when nobody uses them."""

import json
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openapi_documents import root
from tests.fakes.public_directory import archive, brought
from tests.service.conftest import Provider
from webapp.errors import Conflict, Invalid, NotFound
from webapp.service.catalog.importing.records import Options
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, components, runs
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.runs import Run
from webapp.service.domain.instance import app_imports
from webapp.service.domain.instance.app_imports import (
    Source,
    bring,
    fetched,
    listed,
    of_directory,
    preview,
    remove,
    uses,
)
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.responses import Response

PATHS: dict[str, Any] = {"/pets": {"get": {"operationId": "listPets"}}}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog is not built anew, which takes seconds; that it is asked for is told by ``opening``'s own tests."""
    monkeypatch.setattr(catalog_file, "update", lambda service: None)


def source(paths: dict[str, Any]) -> Source:
    return Source(json.dumps(root(paths)).encode(), "acme.json")


def test_an_app_is_previewed_imported_listed_and_removed(service: Service) -> None:
    assert preview(service, source(PATHS), "acme", Options()).added == ("get-me", "list-pets")
    assert listed(service) == []
    bring(service, source(PATHS), "acme", Options())
    bring(service, source({}), "acme", Options())
    (standing,) = listed(service)
    assert (standing.slug, standing.source, standing.imported_at) == ("acme", "acme.json", service.clock())
    remove(service, "acme")
    assert listed(service) == []
    entries = service.store.all("SELECT verb, sentence FROM audit WHERE noun = 'app' ORDER BY id")
    assert [(row["verb"], row["sentence"]) for row in entries] == [
        ("imported", "Imported the app acme with 2 actions."),
        ("imported_again", "Imported the app acme again with 1 action."),
        ("removed", "Removed the imported app acme."),
    ]


def test_a_document_of_the_public_directory_keeps_its_origin(service: Service, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="`patchbay directory add` brings it"):
        of_directory(service, "acme.io")
    brought(service.settings.data, tmp_path)
    bring(service, of_directory(service, "acme.io"), "acme", Options())
    (standing,) = listed(service)
    assert (standing.source, standing.directory) == ("directory:acme.io", "acme.io")
    app = tomllib.loads((service.settings.data / "apps" / "acme" / "app.toml").read_text("utf-8"))
    assert app["origin"] == {"directory": "acme.io", "version": "1.3.17", "date": "2020-09-13"}
    bring(service, source({}), "acme", Options())
    (standing,) = listed(service)
    assert standing.directory == ""


def test_an_app_with_accounts_is_not_removed(service: Service, scene: Scene, plant: Callable[..., Account]) -> None:
    bring(service, source(PATHS), "acme", Options())
    plant(app="acme")
    with pytest.raises(Conflict, match="1 account is connected to acme"):
        remove(service, "acme")
    remove(service, "acme", with_accounts=True)
    with pytest.raises(NotFound):
        remove(service, "acme")


def test_what_runs_while_a_document_of_the_directory_is_removed_ends_and_what_is_next_says_so(
    service: Service,
    scene: Scene,
    provider: Provider,
    plant: Callable[..., Account],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = {"key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}}
    document = root({"/orders": {"get": {"summary": "List orders"}}}, servers=[{"url": provider.base}], schemes=key)
    brought(service.settings.data, tmp_path, archive({"acme.io": document}))
    bring(service, of_directory(service, "acme.io"), "acme", Options())
    monkeypatch.undo()  # the catalog is built with it, and not without it: as if another process had removed it
    catalog_file.update(service)
    service.catalog.refresh()
    monkeypatch.setattr(catalog_file, "update", lambda service: None)
    account, client, asked = plant(app="acme", external_id="alice"), type(service.outbound), list[str]()
    component = component_requests.find(service, "acme-get-orders", None, "action")
    ask = client.request

    def removing(outbound: Any, method: str, url: str, **options: Any) -> Any:
        if not asked:
            remove(service, "acme", with_accounts=True)
        asked.append(url)
        return ask(outbound, method, url, **options)

    def outcome() -> Any:
        values = {"account": {"authProvisionId": account.id}}
        return components.run(service, ComponentRequest(scene, "alice", component, values))

    monkeypatch.setattr(client, "request", removing)
    assert outcome()["ret"] == {"id": "u-1", "name": "Ada"}
    assert asked == [f"{provider.base}/orders"], "it was removed while the provider was being asked"
    (line,) = outcome()["os"]
    assert line["err"]["message"] == "“List orders” was removed from this service, so nothing ran."
    assert len(asked) == 1


def test_how_often_actions_ran_is_known(service: Service, scene: Scene) -> None:
    runs.begin(service, scene, Run("user-1", "sc_1", "acme-list-pets", "0.0.1", "acme", service.clock()), {})
    assert (uses(service, "acme").accounts, uses(service, "acme").runs) == (0, {"list-pets": 1})


def test_slugs_of_the_catalog_are_not_taken(service: Service) -> None:
    with pytest.raises(Conflict, match="built-in app with the slug sandbox_keys"):
        preview(service, source(PATHS), "sandbox_keys", Options())


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Failure("refused_by_guard", "That address is not public."), "That address is not public"),
        (Response(404, {}, b"", "https://acme.example"), "answered with status 404"),
    ],
)
def test_an_address_that_gives_no_document_is_reported(
    service: Service, monkeypatch: pytest.MonkeyPatch, outcome: Response | Failure, told: str
) -> None:
    monkeypatch.setattr(type(service.outbound), "request", lambda *_, **__: outcome)
    with pytest.raises(Invalid, match=told):
        fetched(service, "https://acme.example/openapi.json")


def test_a_document_is_fetched_whole_through_the_guard(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def answer(_: object, method: str, url: str, **options: Any) -> Response:
        asked.update(options, url=url)
        return Response(200, {}, source(PATHS).content, url)

    monkeypatch.setattr(type(service.outbound), "request", answer)
    document = fetched(service, "https://acme.example/openapi.json")
    assert document.address == asked["url"] == "https://acme.example/openapi.json"
    assert (asked["max_bytes"], asked["deadline_s"]) == (20 * 1024 * 1024, app_imports.FETCH_S)
    monkeypatch.undo()
    with pytest.raises(Invalid):
        fetched(service, "http://127.0.0.1:1/openapi.json")


def test_of_what_a_document_refers_to_only_a_little_is_asked_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def request(method: str, url: str, **limits: Any) -> Failure:
        asked.append((url, limits["max_bytes"]))
        return Failure("refused_by_guard", "That address is not public.")

    monkeypatch.setattr(service.outbound, "request", request)
    names = [f"o{number}" for number in range(20)]
    schemes = {name: {"type": "openIdConnect", "openIdConnectUrl": f"https://{name}.example/"} for name in names}
    paths = {f"/{name}": {"get": {"operationId": name, "security": [{name: []}]}} for name in names}
    document = {**root(paths), "components": {"securitySchemes": schemes}}
    with suppress(Invalid):
        preview(service, Source(json.dumps(document).encode(), "acme.json"), "acme", Options())
    assert len(asked) == app_imports.MOST_METADATA
    assert {size for _, size in asked} == {app_imports.METADATA_BYTES}
