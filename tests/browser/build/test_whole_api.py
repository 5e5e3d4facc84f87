"""The whole API of an app, from its provider's document in a package of npm: added by a command to an account that was
connected before, and run in a real browser, through the API and by an agent, against an API that keeps to the document.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.browser.build.test_imports import client_of
from tests.browser.conftest import need
from tests.browser.person import Person
from tests.fakes.api_archives import integrity
from tests.fakes.documented_api import DocumentedApi, documented
from tests.fakes.npm_registry import package, registry
from tests.fakes.served import ROOT, Served, served
from webapp.service.components.pieces import node

pytestmark = pytest.mark.browser
KEY = "harbor-key-of-ada"


def answer(example: Any, status: str = "200") -> dict[str, Any]:
    return {status: {"description": "Well.", "content": {"application/json": {"example": example}}}}


def path_parameters(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


BOOKING = {
    "type": "object",
    "required": ["pier", "length"],
    "additionalProperties": False,
    "properties": {"pier": {"type": "string"}, "length": {"type": "number", "minimum": 1}, "note": {"type": "string"}},
}
FLEET = [{"full_name": "blue/albatros", "name": "albatros"}, {"full_name": "blue/curlew", "name": "curlew"}]
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Harbor", "version": "2026-11-01"},
    "paths": {
        "/me": {"get": {"operationId": "getMe", "responses": answer({"id": "7", "name": "Ada"})}},
        "/my/ships": {"get": {
            "operationId": "ships/list", "summary": "List your ships", "tags": ["ships"], "responses": answer(FLEET),
        }},
        "/ships/{owner}/{ship}": {"get": {
            "operationId": "ships/get", "summary": "Get a ship", "tags": ["ships"],
            "parameters": path_parameters("owner", "ship"), "responses": answer(FLEET[0]),
        }},
        "/ships/{owner}/{ship}/visits": {"get": {
            "operationId": "visits/list", "summary": "List visits of a ship", "tags": ["visits"],
            "parameters": [*path_parameters("owner", "ship"),
                           {"name": "year", "in": "query", "schema": {"type": "integer"}}],
            "responses": answer([{"port": "Trondheim", "day": "2026-10-02"}, {"port": "Bergen", "day": "2026-10-09"}]),
        }},
        "/bookings": {"post": {
            "operationId": "bookings/create", "summary": "Create a booking", "tags": ["bookings"],
            "requestBody": {"required": True, "content": {"application/json": {"schema": BOOKING}}},
            "responses": answer({"id": "bk_1", "pier": "north"}, "201"),
        }},
        "/piers": {"get": {
            "operationId": "piers/list", "summary": "List piers", "tags": ["bookings"],
            "responses": answer([{"name": "north", "free": 4}]),
        }},
    },
}  # fmt: skip
APP = """
slug = "harbor"
name = "Harbor"
description = "Ships and where they lie."
categories = ["developer_tools"]
auth_type = "keys"
logo = {{ letter = "H", color = "#1d4ed8" }}
docs_url = "https://harbor.example/docs"
sources = ["https://harbor.example/docs"]
base_url = "http://{host}"
allowed_hosts = ["{host}"]

[[fields]]
name = "key"
label = "Key"
secret = true

[[credentials]]
place = "header"
name = "X-Key"
value = "{{key}}"
source = "https://harbor.example/docs"

[test]
url = "/me"
source = "https://harbor.example/docs"

[identity]
id = "id"
name = "name"
source = "https://harbor.example/docs"

[[api.documents]]
package = "npm:@harbor/openapi"
version = "1.0.0"
integrity = "{integrity}"
path = "openapi.json"
source = "https://harbor.example/openapi"
read_on = 2026-11-28
"""
GET_SHIP = """
name = "Get ship"
version = "0.0.1"
description = "Read a ship."
hints = "reads"
summary = "Got {$answer.name}"

[props.harbor]
type = "app"
app = "harbor"

[props.which]
type = "string"
label = "Your ship"
pattern = "[^/]+/[^/]+"
advice = "Write it as owner/ship."

[props.which.options]
url = "/my/ships"
label = "{$item.name}"
value = "{$item.full_name}"

[request]
url = "/ships/{which|path}"
"""


@dataclass(frozen=True)
class Harbor:
    """The product, the app's API, and how commands reach the same data."""

    served: Served
    api: DocumentedApi
    data: Path
    environment: dict[str, str]

    def command(self, *words: str) -> str:
        """What a command of the command line says."""
        done = subprocess.run(
            [sys.executable, "-m", "webapp.cli.main", *words],
            env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def harbor(tmp_path: Path) -> Iterator[Harbor]:
    need(node.find() is not None, "Node, with npm, is missing")
    data = tmp_path / "data"
    folder = data / "apps" / "harbor"
    (folder / "actions").mkdir(parents=True)
    (folder / "actions" / "get-ship.toml").write_text(GET_SHIP, "utf-8")
    with registry() as npm, documented(DOCUMENT, KEY) as api:
        archive = tmp_path / "harbor-openapi-1.0.0.tgz"
        archive.write_bytes(package("@harbor/openapi", files={"openapi.json": json.dumps(api.document)}))
        npm.publish(archive.read_bytes())
        facts = APP.format(host=api.host, integrity=integrity(archive))
        (folder / "app.toml").write_text(facts, "utf-8")
        settings = {"PATCHBAY_PIECE_REGISTRY": npm.url, "PATCHBAY_ALLOW_HOSTS": api.host}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PATCHBAY_")}
        with served(data, None, **settings) as product:
            yield Harbor(product, api, data, {**kept, **settings, "PATCHBAY_DATA": str(data)})


def narrow_down(page: Any) -> None:
    """Nothing is wider than a phone, and no button is cut off."""
    page.set_viewport_size({"width": 360, "height": 800})
    boxes = [button.bounding_box() for button in page.get_by_role("button").all()]
    assert all(box is None or box["x"] + box["width"] <= 360 for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 900})


def connect(ada: Person, harbor: Harbor) -> str:
    """Ada's account; its id."""
    page = ada.page
    page.goto(f"{harbor.served.url}/apps/harbor")
    ada.button(re.compile("^Connect")).first.click()
    page.get_by_label("Key", exact=True).fill(KEY)
    ada.button(re.compile("^Connect Harbor")).click()
    ada.connected()
    return str(page.url).rpartition("/")[2].partition("?")[0]


def mcp(harbor: Harbor, headers: dict[str, str], name: str, **arguments: Any) -> str:
    """What an agent is answered by a tool."""
    headers = {**headers, "Accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}

    def send(method: str, params: Any) -> requests.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return requests.post(f"{harbor.served.url}/mcp", json=body, headers=headers, timeout=60)

    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    headers["mcp-session-id"] = send("initialize", hello).headers["mcp-session-id"]
    answered = send("tools/call", {"name": name, "arguments": arguments})
    assert answered.status_code == 200, answered.text
    message = json.loads(answered.text.rpartition("data: ")[2])
    return "\n".join(part["text"] for part in message["result"]["content"] if part["type"] == "text")


def test_it_is_added_to_an_account_that_is_there_and_run_by_a_person_a_product_and_an_agent(
    contexts: Any, harbor: Harbor, axe: Any
) -> None:
    page = contexts().new_page()
    ada = Person(page, harbor.served)
    ada.sign_up(harbor.served.start_url)
    account = connect(ada, harbor)

    assert "with 6 actions" in harbor.command("app", "extend", "harbor")
    action = f"{harbor.served.url}/apps/harbor/actions/harbor-api-visits-list"
    for _ in range(20):  # each process takes the new catalog in by itself
        if page.goto(action).status == 200:
            break
        page.wait_for_timeout(500)
    ada.heading("List visits of a ship")
    assert axe(page) == []
    page.locator("summary").filter(has_text="Your ship:").click()
    page.get_by_role("radio", name="curlew").check()
    assert axe(page) == []
    page.get_by_role("button", name="Run action").first.click()
    page.locator("#result").get_by_role("cell", name="Trondheim").wait_for()
    assert ("visits/list", {"owner": "blue", "ship": "curlew"}, None) in harbor.api.taken

    client_id, secret = client_of(harbor.data)
    token = {"client_id": client_id, "client_secret": secret, "grant_type": "client_credentials"}
    url = f"{harbor.served.url}/v1"
    access = requests.post(f"{url}/oauth/token", json=token, timeout=10).json()["access_token"]
    headers = {"Authorization": f"Bearer {access}", "x-pd-environment": "development"}
    (project, *_) = requests.get(f"{url}/connect/projects", headers=headers, timeout=10).json()["data"]
    mine = f"{url}/connect/{project['id']}"
    known = requests.get(f"{mine}/accounts/{account}", headers=headers, timeout=10).json()
    values = {"account": {"authProvisionId": account}, "pier": "north", "length": "12.5"}
    body: dict[str, Any] = {
        "id": "harbor-api-bookings-create",
        "external_user_id": known["external_id"],
        "configured_props": values,
    }
    ran = requests.post(f"{mine}/actions/run", json=body, headers=headers, timeout=60).json()
    assert ran["ret"] == {"id": "bk_1", "pier": "north"}, ran
    assert ("bookings/create", {}, {"pier": "north", "length": 12.5}) in harbor.api.taken
    values["length"] = "0"
    refused = requests.post(f"{mine}/actions/run", json=body, headers=headers, timeout=60).json()
    assert "0 is less than the minimum of 1" in refused["os"][-1]["err"]["message"]

    headers |= {"x-pd-project-id": project["id"], "x-pd-external-user-id": known["external_id"]}
    assert "harbor_api_piers_list" in mcp(harbor, headers, "search_tools", query="list the piers of the harbor")
    ran_by_agent = mcp(harbor, headers, "run_tool", tool="harbor_api_piers_list", arguments={})
    assert '"free"' in ran_by_agent, ran_by_agent
    assert ("piers/list", {}, None) in harbor.api.taken

    page.goto(f"{harbor.served.url}/build/apps/api/harbor")
    ada.heading("The whole API of Harbor")
    page.get_by_role("link", name="Visits").wait_for()
    assert axe(page) == []
    page.emulate_media(color_scheme="dark")
    assert axe(page, colours=True) == []
    narrow_down(page)
    for question in ("removal", "update"):
        page.goto(f"{harbor.served.url}/build/apps/api/harbor/{question}")
        assert axe(page, colours=True) == [], question
        narrow_down(page)
    assert "accounts stay" in harbor.command("app", "extend", "harbor", "--remove").lower()
    assert requests.get(f"{mine}/accounts/{account}", headers=headers, timeout=10).status_code == 200


LIST_HOOKS = """
name = "List hooks"
version = "0.0.1"
description = "What the account is notified at."
hints = "reads"
summary = "Listed {$answer.data|count('hook')}"
tag = "Webhooks"
scopes = [["webhooks"]]

[props.account]
type = "app"
app = "sandbox"

[request]
url = "/api/webhooks"
"""


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Served]:
    """The product, whose sandbox has an operation of its whole API that needs a scope."""
    folder = tmp_path / "data" / "extensions" / "sandbox.api"
    (folder / "actions").mkdir(parents=True)
    (folder / "app.toml").write_text('joins = "sandbox"\n', "utf-8")
    (folder / "actions" / "api-list-hooks.toml").write_text(LIST_HOOKS, "utf-8")
    with served(tmp_path / "data") as product:
        yield product


def test_a_scope_that_an_account_lacks_is_named_and_added_with_one_button(
    contexts: Any, narrow: Served, axe: Any
) -> None:
    page = contexts().new_page()
    ada = Person(page, narrow)
    ada.sign_up(narrow.start_url)
    ada.choose("Sandbox Tasks")
    page.get_by_text("Read only", exact=True).click()
    page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
    ada.decide(page, "Allow")
    ada.connected()

    page.goto(f"{narrow.url}/apps/sandbox/actions/sandbox-api-list-hooks")
    page.get_by_role("button", name="Run action").first.click()
    page.get_by_text(re.compile("was not given webhooks, which this needs")).first.wait_for()
    assert axe(page) == []
    narrow_down(page)
    page.get_by_role("button", name=re.compile("^Reconnect .* and ask for webhooks$")).click()
    page.get_by_text("“List hooks” needs webhooks.").wait_for()
    assert axe(page) == []
    narrow_down(page)
    page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
    ada.decide(page, "Allow")
    page.wait_for_url("**/sandbox-api-list-hooks")
    page.get_by_role("button", name="Run action").first.click()
    page.locator("#result").get_by_text("Listed 0 hooks").wait_for()
    assert len(ada.accounts()) == 1
