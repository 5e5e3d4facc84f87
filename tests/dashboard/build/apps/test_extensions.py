"""An owner adds the whole API of an app, step by step and without scripts; nobody else sees it."""

import html
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.embedded import Embedded
from tests.fakes.api_archives import integrity, tarball
from tests.fakes.openapi_documents import root
from webapp.dashboard.build.apps import extensions
from webapp.service.catalog import api_documents
from webapp.service.catalog.api_documents import Place
from webapp.service.catalog.spec import ApiDocument
from webapp.service.domain.base import catalog_file
from webapp.service.pieces import package_archives
from webapp.service.pieces.package_archives import Package

PAGE = "/build/apps/api/github"
PATHS: dict[str, Any] = {
    "/gists": {"get": {"operationId": "gists/list", "summary": "List <b>gists</b>", "tags": ["gists"]}},
    "/user": {"get": {"operationId": "users/me", "summary": "Get the user", "tags": ["users"]}},
    "/far": {"get": {"summary": "Go far", "tags": ["users"], "servers": [{"url": "https://far.example"}]}},
    "/old": {"get": {"summary": "Old one", "tags": ["users"], "deprecated": True}},
}


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry with two releases; the catalog is not built anew, which takes seconds."""
    monkeypatch.setattr(catalog_file, "update", lambda service: None)
    servers = [{"url": "https://api.github.com"}]
    first = tarball(tmp_path, root(PATHS, servers=servers), "acme-1.0.0.tgz")
    second = tarball(tmp_path, root({"/toys": {"get": {}}}, servers=servers), "acme-2.0.0.tgz")
    place = Place("npm:acme", "1.0.0", integrity(first), "openapi.json")

    def known(document: ApiDocument) -> Place:
        return place

    def bring(package: Package, draft: Path, registry: str | None) -> None:
        path = first if package.version == "1.0.0" else second
        (draft / path.name).write_bytes(path.read_bytes())

    monkeypatch.setattr(api_documents, "place", known)
    monkeypatch.setattr(package_archives, "_bring", bring)


def test_operations_are_shown_added_and_removed(office: Embedded) -> None:
    browser = office.browser()
    assert "See what can be added" in browser.get("/apps/github")
    assert "Nothing is added until you choose it." in browser.get(PAGE)
    tags = browser.follow(PAGE, {"choice": "bring"})
    assert "Brought" in tags and "<time datetime=" in tags
    assert "Gists" in tags and "A host that GitHub does not have" in tags and "acme 1.0.0" in tags

    opened = browser.follow(PAGE, {"add": "gists", "tag": "gists"})
    assert "List gists" in opened and "github-api-gists-list" in opened and ">On<" in opened.replace("\n", "")
    assert "1 action added" in browser.get("/apps/github")
    found = browser.get(f"{PAGE}?q=get+user")
    assert "Get the user" in found and "List gists" not in found
    assert "Nothing matches" in browser.get(f"{PAGE}?q=zebra")
    deprecated = browser.get(f"{PAGE}?tag=users")
    assert "Deprecated" in deprecated and "which GitHub does not have until an owner confirms it" in deprecated

    confirmed = browser.follow(PAGE, {"choice": "confirm", "host": "far.example"})
    assert "A host that GitHub does not have" not in confirmed
    assert "Remove Users" in browser.follow(PAGE, {"choice": "all"})
    off = browser.follow(PAGE, {"remove": "users"})
    assert "Remove Users" not in off and "Remove Gists" in off


def test_many_operations_are_shown_page_by_page(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "PER_PAGE", 2)
    browser = office.browser()
    browser.follow(PAGE, {"choice": "bring"})
    first = browser.get(f"{PAGE}?tag=users")
    assert "Get the user" in first and "Go far" in first and "Old one" not in first and "1–2 of 3 operations" in first
    assert f'href="{PAGE}?tag=users&amp;page=2"' in first
    second = browser.get(f"{PAGE}?tag=users&page=2")
    assert "Old one" in second and "Go far" not in second and "3 of 3 operations" in second
    added = browser.follow(PAGE, {"add": "GET /old", "tag": "users", "page": "2"})
    assert "Remove Old one" in added and "3 of 3 operations" in added
    browser.get(f"{PAGE}?tag=users&page=7", code=303)
    assert "1–2 of 5 operations" in browser.get(f"{PAGE}?q=get&page=x")
    browser.follow(f"{PAGE}/removal")


def test_a_newer_release_is_shown_and_used_and_all_is_removed(office: Embedded) -> None:
    browser = office.browser()
    browser.follow(PAGE, {"choice": "all"})
    shown = browser.get(f"{PAGE}/update")
    assert "This is the newest already." not in shown and ">Update</button>" in shown
    assert "acme 2.0.0" in shown and "github-api-get-toys" in shown and "github-api-gists-list" in shown
    sent = html.unescape(shown.partition('name="integrity" value="')[2].partition('"')[0])
    release = {"package": "npm:acme", "version": "2.0.0", "integrity": sent}
    assert "The API of GitHub is up to date." in browser.follow(f"{PAGE}/update", release)
    assert "acme 2.0.0" in browser.get(PAGE)
    newest = browser.get(f"{PAGE}/update")
    assert "This is the newest already." in newest and ">Update</button>" not in newest
    assert "2 actions are removed" in browser.get(f"{PAGE}/removal")
    assert "Accounts stay connected." in browser.follow(f"{PAGE}/removal")
    assert "Nothing is added until you choose it." in browser.get(PAGE)


def test_what_cannot_be_done_is_reported(office: Embedded) -> None:
    browser = office.browser()
    answer = browser.send(PAGE, {"add": "zebra"})
    assert answer.status_code == 422 and "The operations are not known yet." in answer.text
    assert browser.send("/build/apps/api/sandbox").status_code in (404, 422)
