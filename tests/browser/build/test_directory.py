"""The public directory in a real browser: updated and removed while the page shows how far it is.

A document of it is found as one types, looked at, imported, connected and run.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.person import Person
from tests.fakes.npm_registry import NpmRegistry
from tests.fakes.ports import free_port
from tests.fakes.public_directory import DOCUMENTS, archive, brought, described
from tests.fakes.served import Served, served
from tests.service.catalog.components.providers.app_harness import Provider, serving
from tests.service.pieces.conftest import _npm_registry as _npm_registry
from tests.service.pieces.conftest import served as npm_registry  # noqa: F401

pytestmark = pytest.mark.browser
KEY = "key-of-ada"


@pytest.fixture
def shop() -> Iterator[str]:
    """The host of a fake of the shop's API."""
    provider = Provider("", {"X-Key": KEY}, {})
    provider.answers["GET /v1/me"] = {"id": "7"}
    provider.answers["GET /v1/orders"] = [{"id": "order-of-ada"}]
    with serving(provider) as host:
        yield host


@pytest.fixture
def fresh(tmp_path: Path, shop: str) -> Iterator[Served]:
    """A server with the directory, in which the document of the shop names the fake."""
    port, data = free_port(), tmp_path / "data"
    data.mkdir()
    paths = {"/orders": {"get": {"operationId": "listOrders", "summary": "List all orders"}}}
    root = described("Acme Shop", paths, shop)
    root["servers"] = [{"url": f"http://{shop}/v1"}]
    brought(data, tmp_path, archive({**DOCUMENTS, "acme.io": root}))
    with served(data, port, PATCHBAY_ALLOW_HOSTS=f"localhost:{port},{shop}", PATH="/nowhere") as product:
        yield product


def test_a_document_is_found_imported_connected_and_run(contexts: Any, fresh: Served, axe: Any) -> None:
    page = contexts().new_page()
    ada = Person(page, fresh)
    ada.sign_up(fresh.start_url)
    page.goto(f"{fresh.url}/build/integrations")
    page.get_by_label("Find an app to add").press_sequentially("list orders")
    page.wait_for_url("**q=list+orders*")
    page.get_by_role("heading", name="From the public directory").wait_for()
    page.get_by_text("Not curated").first.wait_for()
    assert axe(page) == []
    page.get_by_role("link", name="Look inside Acme Shop").click()
    ada.heading("Import Acme Shop")
    page.get_by_text("From the public directory, not curated").wait_for()
    assert axe(page) == []
    page.get_by_label("Short name").fill("Not a slug")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Write it in lower case with underscores").wait_for()
    page.get_by_text("It is from the public directory, and not curated.").wait_for()
    page.get_by_label("Short name").fill("acme_shop")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("status").get_by_text(re.compile("is imported with")).wait_for(timeout=60_000)
    page.get_by_text("From the public directory, not curated: acme.io").wait_for()
    assert axe(page) == []

    page.goto(f"{fresh.url}/apps/acme_shop")
    page.get_by_text(re.compile("From the public directory of 2020-09-13, not curated: acme.io")).wait_for()
    ada.button(re.compile("^Connect")).click()
    page.get_by_label("API key", exact=True).fill(KEY)
    ada.button(re.compile("^Connect Acme")).click()
    ada.connected()
    page.goto(f"{fresh.url}/apps/acme_shop/actions/acme_shop-list-orders")
    page.get_by_text(re.compile("not curated: acme.io")).wait_for()
    page.get_by_role("button", name="Run action").first.click()
    page.get_by_text("order-of-ada").locator("visible=true").first.wait_for()

    page.goto(f"{fresh.url}/build/integrations?q=list+orders")
    page.get_by_role("link", name="Open Acme Shop").first.wait_for()


def test_the_directory_is_updated_stopped_and_removed(
    contexts: Any,
    tmp_path: Path,
    npm_registry: NpmRegistry,  # noqa: F811
    axe: Any,
) -> None:
    port, data = free_port(), tmp_path / "data"
    data.mkdir()
    brought(data, tmp_path)
    npm_registry.publish(archive(version="1.4.0"))
    with served(data, port, PATCHBAY_PIECE_REGISTRY=npm_registry.url) as product:
        page = contexts().new_page()
        Person(page, product).sign_up(product.start_url)
        page.goto(f"{product.url}/build/integrations")
        card = page.locator("#directory")
        card.get_by_text("Version 1.3.17").wait_for()
        card.get_by_role("button", name="Look for a newer version").click()
        card.get_by_text("You may leave this page.").wait_for()
        assert axe(page) == []
        card.get_by_text("Version 1.4.0").wait_for(timeout=60_000)
        page.get_by_role("status").get_by_text("The public directory is here.").wait_for()
        card.get_by_role("link", name="Remove the public directory").click()
        remove = page.get_by_role("dialog").get_by_role("button", name="Remove")
        remove.wait_for()
        assert axe(page) == []
        remove.click()
        npm_registry.stalls = True
        try:
            card.get_by_role("button", name="Bring the public directory").click()
            card.get_by_text("Asking the npm registry").wait_for()
            card.get_by_role("button", name="Stop").click()
            card.get_by_role("button", name="Bring the public directory").wait_for()
        finally:
            npm_registry.stalls = False
        card.get_by_role("button", name="Bring the public directory").click()
        card.get_by_text("did not give the public directory").wait_for(timeout=60_000)  # as it has not that version
        assert axe(page) == []
        card.get_by_role("button", name="Try again").wait_for()
