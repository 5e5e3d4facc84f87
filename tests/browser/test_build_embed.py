"""Build → Embed in Chromium: a token is made and shown in the preview, used, and its code runs as it is printed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.browser.conftest import need, serving
from tests.browser.person import PASSWORD, Person
from tests.browser.test_link import allow
from webapp.people import users
from webapp.service.domain.access import connect_tokens, oauth_clients

pytestmark = [pytest.mark.browser, pytest.mark.whole_chromium]
GO = "Continue to Sandbox Tasks"
SHOWN = os.environ.get("PATCHBAY_TEST_SCREENSHOTS")


@pytest.fixture(scope="module")
def developer(product: Any) -> str:
    service = product.service
    users.create(service.store, service.clock, email="dev@example.com", password=PASSWORD, role="developer")
    return "dev@example.com"


def signed_in(page: Any, product: Any, email: str) -> Any:
    page.goto(f"{product.url}/sign-in")
    Person(page, product).sign_in(email)
    page.get_by_role("heading", name="Apps", exact=True, level=1).wait_for()
    return page


def look(page: Any, name: str, axe: Any) -> None:
    """axe finds nothing in either theme, and nothing overflows."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        if SHOWN:
            page.screenshot(path=f"{SHOWN}/{name}-{scheme}.png", full_page=True)
        assert axe(page, colours=scheme == "dark") == [], (name, scheme)
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, name


def test_a_developer_tries_the_link_and_checks_a_page(
    product: Any, developer: str, contexts: Callable[..., Any], axe: Any, embedder: Any
) -> None:
    page = signed_in(
        contexts(reduced_motion="reduce", viewport={"width": 1280, "height": 900}).new_page(), product, developer
    )
    stranger = {
        "Authorization": f"Bearer {product.token(allowed_origins=[product.url])}",
        "Origin": "https://a.example",
    }
    assert page.request.get(f"{product.url}/v1/connect/accounts", headers=stranger).status == 403
    page.get_by_role("link", name="Embed").click()
    page.get_by_role("button", name="Allow it: https://a.example").wait_for()
    page.get_by_role("heading", name="Embed", level=1).wait_for()
    look(page, "embed-empty", axe)
    page.get_by_role("textbox", name="User").fill("ann")
    page.get_by_role("combobox", name="App").select_option("sandbox_keys")
    page.get_by_role("textbox", name="Another origin").fill(f"{embedder.origin}/settings")
    page.get_by_role("button", name="Add").click()
    page.get_by_text("is not an origin such as").wait_for()
    page.get_by_role("textbox", name="Another origin").fill(embedder.origin)
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name=f"Remove {embedder.origin}").wait_for()
    page.get_by_role("textbox", name="User").press("Enter")
    page.get_by_text("Not used yet").wait_for()
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="Sandbox").wait_for()
    look(page, "embed-token", axe)
    token = page.locator("#preview .copy code").inner_text()
    assert connect_tokens.verify(product.service, token).allowed_origins == (embedder.origin, product.url)
    page.get_by_label("A page of yours").fill(f"{embedder.origin}/settings")
    page.get_by_role("button", name="Check this page").click()
    page.get_by_text("The page is on the list").wait_for()
    page.get_by_text("not on the public internet").wait_for()
    page.get_by_label("Output of curl -si").fill("HTTP/1.1 200 OK\nContent-Security-Policy: frame-src 'self'\n\n")
    page.get_by_role("button", name="Check again").click()
    page.get_by_text(f"frame-src 'self' {product.url}").wait_for()
    look(page, "embed-checked", axe)
    page.get_by_role("link", name="Portal").first.click()
    page.frame_locator("iframe").get_by_role("heading", name="Accounts", exact=True).wait_for()
    look(page, "embed-portal", axe)
    page.get_by_role("link", name="Link", exact=True).click()
    page.get_by_role("link", name="Phone").click()
    page.frame_locator("iframe").get_by_role("heading", name="Sandbox").wait_for()
    assert page.locator("iframe").bounding_box()["width"] == 360
    look(page, "embed-as-phone", axe)
    page.set_viewport_size({"width": 360, "height": 740})
    page.get_by_role("link", name="Server", exact=True).click()
    page.get_by_text("import requests").wait_for()
    look(page, "embed-phone", axe)


def printed(page: Any, product: Any, way: str) -> list[str]:
    """The code of one way, as it stands on the page."""
    page.goto(f"{product.url}/build/embed?way={way}&user=bob&app=sandbox&origins=https%3A%2F%2Fapp.example")
    return [text.strip() + "\n" for text in page.locator("#ways pre").all_inner_texts()]


def run(command: list[str], code: str, secrets: dict[str, str]) -> str:
    done = subprocess.run(command, input=code, text=True, env=os.environ | secrets, capture_output=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.strip()


def test_the_code_of_a_server_runs_as_it_is_printed(product: Any, developer: str, page: Any) -> None:
    for program in ("bash", "curl", "jq", "node"):
        need(shutil.which(program) is not None, f"{program} is missing")
    client, secret = oauth_clients.create(product.service, name="Server", project_id=product.project.id)
    secrets = {"CONNECT_CLIENT_ID": client.id, "CONNECT_CLIENT_SECRET": secret}
    signed_in(page, product, developer)
    (link,) = printed(page, product, "link")
    page.goto(run(["bash", "-euo", "pipefail"], link, secrets))
    page.get_by_role("heading", name="Sandbox Tasks").wait_for()
    shell, python, script = printed(page, product, "server")
    outputs = [
        run(["bash", "-euo", "pipefail"], shell, secrets),
        run([sys.executable, "-"], python, secrets),
        run(["node", "--input-type=module", "-"], script, secrets),
    ]
    for output in outputs:
        token = connect_tokens.verify(product.service, json.loads(output)["token"])
        assert (token.external_id, token.app, token.allowed_origins) == ("bob", "sandbox", ("https://app.example",))


@pytest.mark.parametrize("way", ["window", "page"])
def test_the_code_of_a_page_runs_as_it_is_printed(
    product: Any, developer: str, contexts: Callable[..., Any], way: str
) -> None:
    with site_of(product, f"{way}@example.com") as (origin, code):
        page = contexts().new_page()
        code += printed(signed_in(page, product, developer), product, way)
        page.goto(origin)
        with page.expect_console_message(lambda message: message.text.startswith("connected")) as logged:
            connect(page, way)
        (account,) = product.accounts(f"{way}@example.com")
        assert logged.value.text == f"connected {account.id}"


def test_the_code_of_the_portal_runs_as_it_is_printed(
    product: Any, developer: str, contexts: Callable[..., Any]
) -> None:
    with site_of(product, "portal@example.com") as (origin, code):
        page = contexts().new_page()
        code += printed(signed_in(page, product, developer), product, "portal")
        page.goto(origin)
        page.frame_locator("#portal iframe").get_by_role("heading", name="Accounts", exact=True).wait_for()


@contextmanager
def site_of(product: Any, user: str) -> Iterator[tuple[str, list[str]]]:
    """A site on another origin, whose page is the code in the list, and whose server makes tokens for ``user``."""
    code: list[str] = []

    def answer(environ: Any, start_response: Any) -> list[bytes]:
        if environ["PATH_INFO"] == "/connect-token":
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps({"token": product.token(user, allowed_origins=[origin])}).encode()]
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        return [f"<!doctype html><html lang=en><title>Acme</title>{code[0]}</html>".encode()]

    with serving(answer, "127.0.0.1") as server:
        origin = f"http://127.0.0.1:{server.server_port}"
        yield origin, code


def connect(page: Any, way: str) -> None:
    """Click through, in a window or in a frame of the page."""
    if way == "window":
        with page.expect_popup() as window:
            page.get_by_role("button", name="Connect").click()
        window.value.get_by_role("link", name=GO).first.click()
        allow(window.value)
        return
    page.get_by_role("button", name="Connect").click()
    go = page.frame_locator("dialog iframe").get_by_role("link", name=GO).first
    go.wait_for()
    page.frame_locator("dialog iframe").locator("html.ready").wait_for(state="attached")
    with page.expect_popup() as window:
        go.click()
    allow(window.value)
