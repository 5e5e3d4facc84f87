"""The whole API of an app: brought as its facts name it, on the accounts that are there, and removed without them."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import triggers
from tests.fakes.api_archives import integrity, tarball
from tests.fakes.openapi_documents import root
from tests.service.conftest import Provider
from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit import cursors
from webapp.service.catalog.app import App
from webapp.service.catalog.components import ComponentFilter
from webapp.service.catalog.importing.extensions import Choice
from webapp.service.catalog.spec import Api, AppSpec
from webapp.service.components.calls import Call, Reply
from webapp.service.components.executor import Executor
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import catalog_file
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, components
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.instance import api_extensions
from webapp.service.domain.instance.api_extensions import bring, choose, remove, switch, update, views
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import waiting_triggers

PATHS: dict[str, Any] = {
    "/pets": {"get": {"operationId": "listPets", "summary": "List pets", "tags": ["Pets"]}},
    "/shops": {"get": {"operationId": "listShops", "tags": ["Shops"]}},
}
FACTS = """
[[api.documents]]
package = "npm:acme-openapi"
version = "1.0.0"
integrity = "{integrity}"
path = "openapi.json"
source = "https://acme.example/openapi"
read_on = 2026-11-28
"""


def document(provider: Provider, paths: dict[str, Any]) -> dict[str, Any]:
    return root(paths, servers=[{"url": provider.base}])


@pytest.fixture
def archive(tmp_path: Path, provider: Provider) -> Path:
    folder = tmp_path / "archives"
    folder.mkdir()
    return tarball(folder, document(provider, PATHS))


@pytest.fixture
def extendable(service: Service, archive: Path) -> Service:
    """A service whose app tinykeys names the document in :func:`archive`."""
    file = service.settings.data / "apps" / "tinykeys" / "app.toml"
    file.write_text(file.read_text("utf-8") + FACTS.format(integrity=integrity(archive)), "utf-8")
    catalog_file.update(service)
    service.catalog.refresh()
    return service


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, service: Service, archive: Path) -> Service:
    """The same, whose catalog is not built, which takes seconds."""
    monkeypatch.setattr(catalog_file, "update", lambda service: None)
    api = Api.model_validate(tomllib.loads(FACTS.format(integrity=integrity(archive)))["api"])
    read = App.spec.fget  # type: ignore[attr-defined]

    def spec(app: App) -> AppSpec:
        known: AppSpec = read(app)
        return known.model_copy(update={"api": api}) if app.slug == "tinykeys" else known

    monkeypatch.setattr(App, "spec", property(spec))
    return service


def test_its_operations_run_with_an_account_that_was_connected_before(
    extendable: Service,
    archive: Path,
    scene: Scene,
    provider: Provider,
    plant: Callable[..., Account],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service, account = extendable, plant(external_id="alice")
    own = [each.key for each in listed(service)]
    (change,) = choose(service, "tinykeys", Choice(), archive=archive)
    assert change.added == ("api-get-me", "api-list-pets", "api-list-shops")
    assert [each.key for each in listed(service)] == [
        *own, "tinykeys-api-get-me", "tinykeys-api-list-pets", "tinykeys-api-list-shops",
    ]  # fmt: skip
    component = component_requests.find(service, "tinykeys-api-list-pets", None, "action")
    values = {"account": {"authProvisionId": account.id}}
    outcome = components.run(service, ComponentRequest(scene, "alice", component, values))
    assert outcome["ret"] == {"id": "u-1", "name": "Ada"}
    assert provider.calls == ["/pets"]

    with monkeypatch.context() as stale:  # another process removes it, and this one still lists it
        stale.setattr(catalog_file, "update", lambda service: None)
        trigger = triggers.deploy(service, scene, given={"ids": ["a"], "account": values["account"]})
        removed, run = list[int](), Executor.call

        def call(executor: Executor, made: Call) -> Reply:
            reply = run(executor, made)
            removed.append(remove(service, "tinykeys"))
            return reply

        stale.setattr(Executor, "call", call)
        outcome = components.run(service, ComponentRequest(scene, "alice", component, values))
        assert (outcome["ret"], removed) == ({"id": "u-1", "name": "Ada"}, [3]), "what is in flight ends well"
    outcome = components.run(service, ComponentRequest(scene, "alice", component, values))
    sentence = "“List pets” was removed from this service, so nothing ran."
    assert [line["err"]["message"] for line in outcome["os"]] == [sentence]
    assert service.store.one("SELECT error FROM runs WHERE error IS NOT NULL") == {"error": sentence}

    catalog_file.update(service)
    service.catalog.refresh()
    assert [each.key for each in listed(service)] == own
    with pytest.raises(NotFound):
        component_requests.find(service, "tinykeys-api-list-pets", None, "action")
    assert service.store.one("SELECT id FROM accounts WHERE id = :id", {"id": account.id})
    assert [outcome.ok for outcome in triggers.poll_due(service)] == [True], "a trigger of the app goes on"
    assert waiting_triggers.reasons(service, [trigger]) == {}
    entries = service.store.all("SELECT verb, sentence FROM audit WHERE noun = 'app' ORDER BY id")
    assert [(row["verb"], row["sentence"]) for row in entries] == [
        ("extended", "The whole API of Tiny Keys: 3 operations on."),
        ("extension_removed", "Removed the whole API of tinykeys."),
    ]


def test_what_runs_while_they_are_updated_ends_and_what_is_next_says_what_is_so(
    extendable: Service,
    archive: Path,
    scene: Scene,
    provider: Provider,
    plant: Callable[..., Account],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service, account = extendable, plant(external_id="alice")
    choose(service, "tinykeys", Choice(), archive=archive)
    newer = {"/pets": PATHS["/pets"], "/toys": {"get": {"operationId": "listToys"}}}
    path = tarball(archive.parent, document(provider, newer), "acme-openapi-1.1.0.tgz")
    values, asked = {"account": {"authProvisionId": account.id}}, list[str]()
    client = type(service.outbound)
    request = client.request

    def outcome(key: str) -> Any:
        component = component_requests.find(service, key, None, "action")
        return components.run(service, ComponentRequest(scene, "alice", component, values))

    def updating(outbound: Any, method: str, url: str, **options: Any) -> Any:
        if not asked:
            update(service, "tinykeys", bring(service, "tinykeys", archive=path))
        asked.append(url)
        return request(outbound, method, url, **options)

    with monkeypatch.context() as stale:  # another process updates it, and this one still lists what was there
        stale.setattr(catalog_file, "update", lambda service: None)
        stale.setattr(client, "request", updating)
        assert outcome("tinykeys-api-list-shops")["ret"] == {"id": "u-1", "name": "Ada"}
        assert asked == [f"{provider.base}/shops"], "it was updated while the provider was being asked"
        (line,) = outcome("tinykeys-api-list-shops")["os"]
        assert line["err"]["message"] == "“List shops” was removed from this service, so nothing ran."
        assert outcome("tinykeys-api-list-pets")["ret"] == {"id": "u-1", "name": "Ada"}, "what stayed runs on"

    catalog_file.update(service)
    service.catalog.refresh()
    with pytest.raises(NotFound):
        outcome("tinykeys-api-list-shops")
    for key in ("tinykeys-api-list-pets", "tinykeys-api-list-toys"):
        assert outcome(key)["ret"] == {"id": "u-1", "name": "Ada"}


def listed(service: Service) -> Any:
    return service.catalog.components(ComponentFilter.of(None, "tinykeys", None, "all"), cursors.Window()).items


def test_operations_are_switched_on_and_off(quick: Service, archive: Path) -> None:
    with pytest.raises(Conflict, match="Bring the description first"):
        switch(quick, "tinykeys", ["Pets"], [])
    (change,) = choose(quick, "tinykeys", Choice(()), archive=archive)
    assert change.extension.count == 0
    (change,) = switch(quick, "tinykeys", ["Pets", "GET /shops"], [])
    assert change.added == ("api-list-pets", "api-list-shops")
    (change,) = switch(quick, "tinykeys", [], ["Shops"])
    assert (change.removed, change.extension.only) == (("api-list-shops",), ("GET /pets",))
    with pytest.raises(Invalid, match="no tag and no operation 'Toys'"):
        switch(quick, "tinykeys", ["Toys"], [])


def test_another_archive_is_not_taken_and_nothing_changes(quick: Service, archive: Path, provider: Provider) -> None:
    other = tarball(archive.parent, document(provider, {}), "other-1.0.0.tgz")
    with pytest.raises(Invalid, match="its integrity differs"):
        choose(quick, "tinykeys", Choice(), archive=other)
    with pytest.raises(Invalid, match="no tag and no operation 'Toys'"):
        choose(quick, "tinykeys", Choice(("Toys",)), archive=archive)
    (view,) = views(quick, api_extensions.app(quick, "tinykeys"))
    assert view.extension is None


def test_a_newer_release_is_shown_before_it_is_used(quick: Service, archive: Path, provider: Provider) -> None:
    with pytest.raises(Conflict, match="was not added yet"):
        bring(quick, "tinykeys", archive=archive)
    choose(quick, "tinykeys", Choice(), archive=archive)
    newer = {"/pets": PATHS["/pets"], "/toys": {"get": {"operationId": "listToys"}}}
    path = tarball(archive.parent, document(provider, newer), "acme-openapi-1.1.0.tgz")
    brought = bring(quick, "tinykeys", archive=path)
    (change,) = update(quick, "tinykeys", brought, preview=True)
    assert (change.added, change.removed) == (("api-list-toys",), ("api-list-shops",))
    (view,) = views(quick, api_extensions.app(quick, "tinykeys"))
    assert view.extension and view.extension.origin.version == "1.0.0"
    update(quick, "tinykeys", brought)
    (view,) = views(quick, api_extensions.app(quick, "tinykeys"))
    assert view.extension and (view.extension.origin.version, view.extension.count) == ("1.1.0", 3)


def test_an_app_without_a_description_says_so(quick: Service) -> None:
    with pytest.raises(NotFound, match="no description of the whole API of Tiny OAuth"):
        choose(quick, "tinyoauth", Choice())
    with pytest.raises(NotFound, match="There is no such app"):
        choose(quick, "nothing", Choice())
    with pytest.raises(NotFound, match="was not added"):
        remove(quick, "tinykeys")


def test_a_slug_is_no_pattern(quick: Service, archive: Path) -> None:
    choose(quick, "tinykeys", Choice(), archive=archive)
    with pytest.raises(NotFound, match="was not added"):
        remove(quick, "*")
