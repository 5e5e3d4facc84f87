"""The example of a product: its page, what its script asks for, and what it does without one."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import requests
from flask.testing import FlaskClient

from tests.sandbox.conftest import CALLBACK, CLIENT, ROOT
from webapp.sandbox.app import create_sandbox
from webapp.sandbox.product import server
from webapp.sandbox.product.pages import Product
from webapp.sandbox.product.server import Connect

HERE, SERVICE = "http://localhost:8601", "http://localhost:8600"
ACCOUNT = {"name": "<b>ada", "healthy": True, "app": {"name": "Tasks", "img_src": f"{SERVICE}/logos/sandbox.svg"}}


class Patchbay(Connect):
    """Answers what it is told to; an exception is raised."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(SERVICE, "example", "secret", "development")
        self.answers, self.calls = list(answers), list[tuple[Any, ...]]()

    def call(self, method: str, path: str, **more: Any) -> Any:
        self.calls.append((method, path, *more.values()))
        answer = {"data": [{"id": "proj_1"}]} if path == "projects" else self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def browse(folder: Path, patchbay: Patchbay | None) -> FlaskClient:
    example = Product(SERVICE, patchbay) if patchbay else None
    folders = ROOT / "templates", ROOT / "static"
    return create_sandbox(folder, HERE, *CLIENT, [CALLBACK], *folders, example=example).test_client()


def send(browser: FlaskClient, path: str) -> Any:
    proof = re.search(r'name="csrf-token" content="([^"]+)"', browser.get("/product", base_url=HERE).text)
    assert proof
    return browser.post(path, base_url=HERE, headers={"X-CSRFToken": proof[1]})


def test_without_a_client_there_is_no_product(tmp_path: Path) -> None:
    assert browse(tmp_path, None).get("/product", base_url=HERE).status_code == 404


def test_the_page_lists_accounts_and_shows_the_code_that_runs(tmp_path: Path) -> None:
    browser = browse(tmp_path, Patchbay({"data": [ACCOUNT]}))
    answer = browser.get("/product?account_id=apn_1", base_url=HERE)
    assert "&lt;b&gt;ada" in answer.text and "Working" in answer.text and "The account is connected." in answer.text
    shown = re.findall(r"<pre[^>]*>(.*?)</pre>", answer.text, re.DOTALL)
    assert "class Connect:" in shown[0] and "Patchbay.connect(" in shown[1]
    assert len(inspect.getsource(server).splitlines()) <= 50
    policy = answer.headers["Content-Security-Policy"]
    assert f"script-src 'self' {SERVICE}; frame-src {SERVICE}; connect-src 'self' {SERVICE}" in policy
    assert "script-src" not in browser.get("/", base_url=HERE).headers["Content-Security-Policy"]


def test_its_server_makes_a_token_for_whoever_is_signed_in(tmp_path: Path) -> None:
    patchbay = Patchbay({"data": []}, {"token": "ctok_1"})
    assert send(browse(tmp_path, patchbay), "/product/token").json == {"token": "ctok_1"}
    assert patchbay.calls[-1] == ("POST", "proj_1/tokens", {
        "external_user_id": "acme-desk-ada", "allowed_origins": [HERE],
        "success_redirect_uri": f"{HERE}/product", "error_redirect_uri": f"{HERE}/product",
    })  # fmt: skip


def test_without_a_script_it_continues_in_the_same_tab(tmp_path: Path) -> None:
    link = {"connect_link_url": f"{SERVICE}/_static/connect.html?token=ctok_1"}
    answer = send(browse(tmp_path, Patchbay({"data": []}, link)), "/product/connect")
    assert (answer.status_code, answer.headers["Location"]) == (303, link["connect_link_url"] + "&app=sandbox")


@pytest.mark.parametrize("path", ["/product/token", "/product/connect"])
def test_a_page_of_another_site_makes_no_token(tmp_path: Path, path: str) -> None:
    patchbay = Patchbay()
    assert browse(tmp_path, patchbay).post(path, base_url=HERE).status_code == 400 and not patchbay.calls


def test_trouble_is_reported(tmp_path: Path) -> None:
    down = requests.ConnectionError()
    browser = browse(tmp_path, Patchbay(*[down] * 6))
    assert "Patchbay isn’t ready" in browser.get("/product", base_url=HERE).text
    assert send(browser, "/product/token").status_code == 502
    answer = send(browser, "/product/connect")
    assert (
        answer.status_code == 303
        and "No account was connected." in browser.get(answer.headers["Location"], base_url=HERE).text
    )
