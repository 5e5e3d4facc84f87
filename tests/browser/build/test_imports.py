"""APIs imported by their documents in a real browser: our own, and Figma's at a fake of its API; connected and run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.browser.conftest import need
from tests.browser.person import Person
from tests.fakes.ports import free_port
from tests.fakes.served import Served, served
from tests.service.catalog.components.providers.app_harness import Provider, serving
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

pytestmark = pytest.mark.browser
FIGMA = Path(__file__).parents[3] / "instance/node/node_modules/@figma/rest-api-spec/openapi/openapi.yaml"
KEY = "figd-key-of-ada"


@pytest.fixture
def figma() -> Iterator[str]:
    """The host of a fake of Figma's API."""
    provider = Provider("", {"X-Figma-Token": KEY}, {})
    provider.answers["GET /v1/me"] = {"id": "7", "handle": "Ada", "email": "ada@figma.example", "img_url": ""}
    with serving(provider) as host:
        yield host


@pytest.fixture
def fresh(tmp_path: Path, figma: str) -> Iterator[Served]:
    port = free_port()
    with served(tmp_path / "data", port, PATCHBAY_ALLOW_HOSTS=f"localhost:{port},{figma}") as product:
        yield product


def client_of(data: Path) -> tuple[str, str]:
    """The id and secret of a client of the installation."""
    service = open_service(Settings.from_env({}, data=data))
    try:
        client, secret = oauth_clients.create(service, name="Imported")
        return client.id, secret
    finally:
        close_service(service)


def preview(page: Any, at: Served, file: Path, slug: str) -> None:
    page.goto(f"{at.url}/build/integrations")
    page.get_by_role("link", name="Import an API").click()
    page.get_by_label("Or a file").set_input_files(file)
    page.get_by_label("Short name").fill(slug)
    page.get_by_role("button", name="Preview").click()


def bring(page: Any) -> None:
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("status").get_by_text(re.compile("is imported with")).wait_for(timeout=60_000)


def open_action(page: Any, at: Served, slug: str, action: str) -> None:
    page.goto(f"{at.url}/apps/{slug}/actions/{slug}-{action}")


def test_our_own_api_is_imported_and_makes_a_token(contexts: Any, fresh: Served, tmp_path: Path, axe: Any) -> None:
    page = contexts().new_page()
    ada = Person(page, fresh)
    ada.sign_up(fresh.start_url)
    file = tmp_path / "openapi.json"
    file.write_bytes(requests.get(f"{fresh.url}/openapi.json", timeout=10).content)
    preview(page, fresh, file, "Not a slug")
    page.get_by_text("Write it in lower case with underscores").wait_for()
    page.get_by_text("openapi.json was read.").wait_for()
    assert axe(page) == []
    page.get_by_label("Short name").fill("own_patchbay")
    page.get_by_role("button", name="Preview").click()
    ada.heading("Import Patchbay Connect API")
    assert axe(page) == []
    page.get_by_text("Show only some tags").click()
    page.get_by_role("checkbox", name=re.compile("^Connect tokens")).check()
    page.get_by_role("button", name="Refresh preview").click()
    page.get_by_role("checkbox", name=re.compile("^Create token")).wait_for()
    bring(page)
    page.get_by_role("link", name="Patchbay Connect API", exact=True).wait_for()
    assert axe(page) == []

    client_id, secret = client_of(tmp_path / "data")
    page.goto(f"{fresh.url}/apps/own_patchbay")
    ada.button(re.compile("^Connect")).click()
    page.get_by_label("Client ID").fill(client_id)
    page.get_by_label("Client secret", exact=True).fill(secret)
    ada.button(re.compile("^Connect Patchbay")).click()
    ada.connected()
    token = {"client_id": client_id, "client_secret": secret, "grant_type": "client_credentials"}
    access = requests.post(f"{fresh.url}/v1/oauth/token", json=token, timeout=10).json()["access_token"]
    listed = requests.get(
        f"{fresh.url}/v1/connect/projects", headers={"Authorization": f"Bearer {access}"}, timeout=10
    ).json()
    open_action(page, fresh, "own_patchbay", "create-token")
    page.get_by_label("Project ID", exact=True).first.fill(listed["data"][0]["id"])
    page.get_by_label("development", exact=True).check()
    page.get_by_label("External user ID", exact=True).fill("user-7")
    page.get_by_role("button", name="Run action").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Run action").click()
    page.get_by_text(re.compile("ctok_")).first.wait_for()


def test_an_api_of_somebody_else_is_imported_connected_and_run(
    contexts: Any, fresh: Served, figma: str, tmp_path: Path, axe: Any
) -> None:
    need(FIGMA.is_file(), "Figma's document is missing; run `python -m webapp.frontend --tests`")
    page = contexts().new_page()
    ada = Person(page, fresh)
    ada.sign_up(fresh.start_url)
    file = tmp_path / "figma.yaml"
    file.write_text(FIGMA.read_text("utf-8").replace("https://api.figma.com", f"http://{figma}"), "utf-8")
    preview(page, fresh, file, "our_figma")
    ada.heading("Import Figma API")
    page.get_by_text("cannot be imported").first.click()
    page.get_by_text("It needs another way to sign in").locator("visible=true").first.wait_for()
    page.emulate_media(color_scheme="dark")
    assert axe(page, colours=True) == []
    bring(page)

    page.goto(f"{fresh.url}/apps/our_figma")
    ada.button(re.compile("^Connect")).click()
    page.get_by_label("API key", exact=True).fill("wrong")
    ada.button(re.compile("^Connect Figma")).click()
    page.get_by_text("does not accept").first.wait_for()
    page.get_by_label("API key", exact=True).fill(KEY)
    ada.button(re.compile("^Connect Figma")).click()
    ada.connected()
    open_action(page, fresh, "our_figma", "get-me")
    page.get_by_role("button", name="Run action").first.click()
    page.get_by_text("ada@figma.example").first.wait_for()

    page.goto(f"{fresh.url}/build/integrations")
    page.get_by_role("link", name="Remove Figma API").click()
    remove = page.get_by_role("button", name="Remove").locator("visible=true")
    remove.wait_for()
    assert axe(page) == []
    remove.click()
    page.get_by_text("1 account is connected to our_figma. Disconnect them first.").wait_for()
