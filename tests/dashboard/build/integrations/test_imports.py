"""An API is uploaded, looked at, imported and removed, step by step and without scripts."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.embedded import Browser, Embedded
from tests.fakes import mcp_server
from tests.fakes.openapi_documents import root
from tests.fakes.public_directory import brought
from tests.fakes.user_data import plant_account
from webapp.service.api import imported_apps
from webapp.service.catalog.importing import plans
from webapp.service.catalog.importing.records import Options
from webapp.service.directory import directory
from webapp.service.domain.accounts import account_state
from webapp.service.domain.base import catalog_file
from webapp.service.domain.components import held_tools
from webapp.service.domain.components.held_tools import HeldTool
from webapp.service.domain.instance import app_imports, mcp_servers
from webapp.service.domain.instance.mcp_servers import Asker
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

PATHS: dict[str, Any] = {
    "/pets": {"get": {"operationId": "listPets", "tags": ["Pets"]}, "post": {"tags": ["Pets"], "deprecated": True}},
    "/xml": {"post": {"requestBody": {"content": {"application/xml": {}}}}},
}
UPDATE = catalog_file.update
PREVIEW, IMPORT = "/build/integrations/imports/preview", "/build/integrations/imports"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog is not built anew, which takes seconds."""
    monkeypatch.setattr(catalog_file, "update", lambda service: None)


def upload(browser: Browser, paths: dict[str, Any], **form: Any) -> Any:
    file = (io.BytesIO(json.dumps(root(paths)).encode()), "acme.json")
    return browser.send(PREVIEW, {"document": file, "slug": "acme", **form})


def draft_of(page: str) -> str:
    return str(re.findall(r'name="draft" value="([^"]+)"', page)[0])


def checked(page: str) -> list[str]:
    return re.findall(r'name="only" value="([^"]+)" checked', page)


def test_an_api_is_looked_at_imported_and_removed(office: Embedded) -> None:
    browser = office.browser()
    assert "Any API that has an OpenAPI document" in browser.get("/build/integrations")
    preview = upload(browser, PATHS)
    assert preview.status_code == 200
    assert checked(preview.text) == ["GET /me", "GET /pets"]
    for text in (
        'value="POST /pets">',
        "Deprecated",
        "Its body is application/xml",
        "Credentials go to api.acme.example",
    ):
        assert text in preview.text
    draft = {"draft": draft_of(preview.text), "slug": "acme"}

    narrowed = browser.send(
        PREVIEW, {**draft, "tags": ["Pets"], "auth": "bearer", "test": "GET /me", "name": "Ours"}
    ).text
    assert checked(narrowed) == ["GET /pets"]
    assert '<option value="bearer" selected' in narrowed and 'value="Ours"' in narrowed

    assert "Choose at least one operation." in browser.send(IMPORT, draft).text
    page = browser.follow(IMPORT, {**draft, "only": ["GET /pets", "POST /pets"], "name": "Ours"})
    assert "Ours is imported with 2 actions." in page
    assert "acme.json" in page and "/build/integrations/imports/new?slug=acme" in page
    assert "is not kept any more" in browser.send(PREVIEW, draft).text

    again = upload(browser, {"/pets": {"get": {"operationId": "listPets", "summary": "All pets", "tags": ["Pets"]}}})
    assert "Changed" in again.text and "post-pets is removed." in again.text

    assert "Remove acme?" in browser.get(f"{IMPORT}/acme/removal")
    assert "acme is removed." in browser.follow(f"{IMPORT}/acme/removal")
    assert browser.send(f"{IMPORT}/acme/removal").status_code == 404


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"slug": "acme"}, "Choose a file, or enter an address."),
        ({"slug": "github", "draft": ""}, "built-in app"),
        ({"slug": "A B"}, "lower case with underscores"),
        ({"slug": ""}, "lower case with underscores"),
        ({"slug": "acme", "url": "http://127.0.0.1:1/x"}, "127.0.0.1"),
    ],
)
def test_what_cannot_be_looked_at_is_reported_at_its_field(office: Embedded, form: dict[str, str], told: str) -> None:
    browser = office.browser()
    has_file = form["slug"] != "acme"
    answer = upload(browser, PATHS, **form) if has_file else browser.send(PREVIEW, form)
    assert answer.status_code == 422
    assert told in answer.text
    assert ("acme.json was read." in answer.text) is has_file


def test_what_the_document_lacks_is_asked_for(office: Embedded) -> None:
    browser = office.browser()
    answer = upload(browser, {"/me": {"post": {}}})
    assert "so accounts are connected untested" in answer.text and 'name="test"' in answer.text
    form = {"draft": draft_of(answer.text), "slug": "acme", "test": "/ping"}
    tested = browser.send(PREVIEW, form).text
    assert checked(tested) == ["POST /me"] and "connected untested" not in tested


def test_a_document_of_the_public_directory_is_looked_at_and_imported(office: Embedded, tmp_path: Path) -> None:
    browser, data = office.browser(), office.service.settings.data
    address = f"{IMPORT}/directory?name=acme.io&slug=acme"
    browser.get(address, code=404)
    brought(data, tmp_path)
    preview = browser.get(address)
    assert "From the public directory, not curated" in preview and "2020-09-13" in preview
    assert 'name="directory" value="acme.io"' in preview and checked(preview) == ["GET /me", "GET /orders"]
    assert re.search(r'<input[^>]* name="slug"[^>]* value="acme"', preview)
    form = {"directory": "acme.io", "slug": "acme", "only": ["GET /orders"]}
    refused = browser.send(IMPORT, {**form, "slug": "A B"})
    assert refused.status_code == 422 and "acme.io was read." in refused.text and "not curated" in refused.text
    assert "Acme Shop is imported with 1 action." in browser.follow(IMPORT, form)
    page = browser.get("/build/integrations")
    assert "From the public directory, not curated: acme.io" in page
    assert f"{IMPORT}/directory?slug=acme&amp;name=acme.io" in page
    again = browser.get(address)
    assert '<input type="hidden" name="slug" value="acme">' in again
    browser.get(f"{IMPORT}/directory?name=nothing.io&slug=x", code=404)
    browser.follow(f"{IMPORT}/acme/removal")
    directory.remove(data)


def test_of_a_document_with_too_many_operations_tags_are_chosen(
    office: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (plans, imported_apps):
        monkeypatch.setattr(module, "MOST_ACTIONS", 2)
    browser = office.browser()
    answer = upload(browser, {**PATHS, "/shops/{id}": {"get": {}, "put": {}}})
    draft = {"draft": draft_of(answer.text), "slug": "acme", "asked": "yes"}
    assert answer.status_code == 200 and "The document has 6 operations." in answer.text
    assert re.findall(r'name="tags" value="([^"]+)"', answer.text) == ["me", "Pets", "shops", "xml"]
    assert 'role="alert"' not in answer.text
    none = browser.send(PREVIEW, draft)
    assert none.status_code == 422 and "Choose at least one tag." in none.text
    many = browser.send(PREVIEW, {**draft, "tags": ["shops", "me"]})
    assert many.status_code == 422 and "You chose 3 operations, which is too many." in many.text
    assert re.findall(r'name="tags" value="([^"]+)" checked', many.text) == ["me", "shops"]
    preview = browser.send(PREVIEW, {**draft, "tags": ["shops"]})
    assert checked(preview.text) == ["GET /shops/{id}", "PUT /shops/{id}"]
    page = browser.follow(IMPORT, {"draft": draft["draft"], "slug": "acme", "only": checked(preview.text)})
    assert "is imported with 2 actions." in page
    browser.follow(f"{IMPORT}/acme/removal")


def test_owners_alone_import(office: Embedded) -> None:
    for role in ("developer", "member"):
        browser = office.browser(role)
        browser.get(f"{IMPORT}/new", code=404)
        assert browser.send(PREVIEW, {"slug": "acme"}).status_code == 404
        assert browser.send(IMPORT, {"slug": "acme"}).status_code == 404


def test_an_address_is_filled_in_for_the_next_time(office: Embedded) -> None:
    page = office.browser().get(f"{IMPORT}/new?slug=acme&url=https://acme.example/openapi.json")
    assert 'value="https://acme.example/openapi.json"' in page and 'value="acme"' in page


class TestServers:
    """An MCP server is added by its address, step by step and without scripts."""

    def test_one_is_looked_at_added_and_added_again(self, office: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
        browser = office.browser()
        assert "Address of the server" in browser.get("/build/integrations/servers/new")
        with mcp_server.serving() as server:
            mcp_server.reach(monkeypatch, office.service, server)
            asked = {"mcp": server.url, "slug": "notes", "auth": "none"}
            preview = browser.send(PREVIEW, asked)
            assert preview.status_code == 200, preview.text
            assert checked(preview.text) == ["search_notes", "erase"]
            assert "The server shows 2 tools." in preview.text and "Nobody needs an account." in preview.text
            page = browser.follow(IMPORT, {**asked, "only": ["search_notes"], "name": "Notes"})
            assert "Notes is imported with 1 action." in page
            assert f"MCP server: {server.url}" in page and "/build/integrations/servers/new?slug=notes" in page
            server.manner.tools = [{**mcp_server.SEARCH, "description": "Now otherwise."}, mcp_server.ERASE]
            waits = HeldTool("notes-search-notes", "notes", 1)
            with office.service.store.write() as tx:
                held_tools._HELD.insert(tx, waits)
            page = browser.get("/build/integrations")
            assert "1 tool waits for your look" in page and "See what changed: Notes" in page
            again = browser.send(PREVIEW, {"mcp": server.url, "slug": "notes"})
            assert "Changed" in again.text and checked(again.text) == ["search_notes"]
            assert "Finds notes by their words." in again.text and "Now otherwise." in again.text
            browser.follow(IMPORT, {**asked, "only": ["search_notes"], "name": "Notes"})
            assert held_tools.waiting(office.service.store, "notes") == []
            assert "for your look" not in browser.get("/build/integrations")
            mcp_servers.add(office.service, server.url, "notes", Asker("none"), Options(only=("Tools",)))
            server.manner.tools = [*server.manner.tools, {**mcp_server.ERASE, "name": "burn"}]
            again = browser.send(PREVIEW, {"mcp": server.url, "slug": "notes"})
            assert checked(again.text) == ["search_notes", "erase"] and "burn" in again.text
            server.manner.tools.pop()
            assert "What changed at the server" not in browser.send(PREVIEW, {"mcp": server.url, "slug": "notes"}).text
        assert "notes is removed." in browser.follow(f"{IMPORT}/notes/removal")

    def test_one_where_people_sign_in_is_added_before_it_shows_its_tools(
        self, office: Embedded, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        browser = office.browser()
        with mcp_server.serving(key="right") as server:
            mcp_server.reach(monkeypatch, office.service, server)
            server.sign_in()
            asked = {"mcp": server.url, "slug": "notes", "auth": ""}
            preview = browser.send(PREVIEW, asked)
            assert "None are shown to strangers." in preview.text and server.registered == []
            assert "127.0.0.1 is imported with 0 actions." in browser.follow(
                IMPORT, {**asked, "name": "Notes"}
            ).replace("Notes is", "127.0.0.1 is")
            assert len(server.registered) == 1
        assert "notes is removed." in browser.follow(f"{IMPORT}/notes/removal")

    def test_tools_are_listed_with_an_account_of_ones_own(
        self, office: Embedded, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(catalog_file, "update", UPDATE)
        browser, owner, other = office.browser(), office.people["owner"].id, office.people["member"].id
        with mcp_server.serving(key="right") as server:
            mcp_server.reach(monkeypatch, office.service, server)
            server.sign_in()
            browser.follow(IMPORT, {"mcp": server.url, "slug": "notes", "auth": "", "name": "Notes"})
            scene = Scene(projects.first(office.service.store).id, "development")  # type: ignore[union-attr]
            own, others = (
                plant_account(office.service, scene, user, "notes", {"oauth_access_token": "right"}, expires_at=None)
                for user in (owner, other)
            )
            form = browser.get(f"/build/integrations/servers/new?slug=notes&mcp={server.url}")
            assert f'value="{own.id}" selected' in form and others.id not in form
            asked = {"mcp": server.url, "slug": "notes", "auth": "", "account_id": own.id}
            assert checked(browser.send(PREVIEW, asked).text) == ["search_notes", "erase"]
            page = browser.follow(IMPORT, {**asked, "only": ["search_notes", "erase"], "name": "Notes"})
            assert "Notes is imported with 2 actions." in page
            refused = browser.send(PREVIEW, {**asked, "account_id": others.id})
            assert (refused.status_code, "one of your own accounts" in refused.text) == (422, True)
        app_imports.remove(office.service, "notes", with_accounts=True)
        with office.service.store.write() as tx:
            account_state.remove(tx, [own, others], office.service.clock())

    @pytest.mark.parametrize(
        ("form", "told"),
        [
            ({"mcp": "", "slug": "notes"}, "Enter the address of the server."),
            ({"mcp": "https://10.0.0.1/mcp", "slug": "notes"}, "not on the public internet"),
            ({"mcp": "http://mcp.acme.example", "slug": "notes"}, "Write the address with https://"),
            ({"mcp": "https://127.0.0.1/", "slug": "notes", "account_id": "apn_1"}, "one of your own accounts"),
        ],
    )
    def test_what_is_wrong_is_reported_and_nothing_is_lost(
        self, office: Embedded, form: dict[str, str], told: str
    ) -> None:
        refused = office.browser().send(PREVIEW, form)
        assert refused.status_code == 422
        assert told in refused.text
        assert f'value="{form["mcp"]}"' in refused.text and 'value="notes"' in refused.text
