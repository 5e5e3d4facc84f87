"""The manual in a browser's place: served to everybody, without scripts or cookies, with headers, searchable."""

import gzip
import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from webapp.kit import assets
from webapp.manual import wiring
from webapp.manual.files import FILES
from webapp.manual.pages import NAMES
from webapp.service.components.confinement.confinement import Measure
from webapp.settings import Settings

HOSTILE = '"><script>alert(1)</script><img src=x onerror=y>'
PATHS = ("/docs", "/docs/search", "/docs/search?q=key", *(f"/docs/{name}" for name in NAMES))

MEASURES = [Measure("files", True, "It reads <b>little</b>."), Measure("network", False, "It has a way out.")]


@pytest.fixture(scope="module")
def served() -> Flask:
    """The manual as an application of its own: reading its pages is most of what a test would take."""
    app = Flask("manual", template_folder=str(assets.templates_dir()), static_folder=str(assets.static_dir()))
    wiring.register(app, Settings.from_env({}), lambda: MEASURES)
    return app


@pytest.fixture
def browser(served: Flask) -> FlaskClient:
    return served.test_client()


@pytest.mark.parametrize("path", PATHS)
def test_a_page_runs_nothing_and_keeps_nothing(browser: FlaskClient, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200 and answer.mimetype == "text/html"
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "script-src" not in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy and "form-action 'self'" in policy
    assert "Set-Cookie" not in answer.headers
    assert "<script" not in answer.text and "style=" not in answer.text


@pytest.mark.parametrize("path", PATHS)
def test_every_page_leads_to_every_other_and_to_the_reference(browser: FlaskClient, path: str) -> None:
    links = set(re.findall(r'href="(/docs[^"#?]*)"', browser.get(path).text))
    assert {"/docs", "/docs/api", *(f"/docs/{name}" for name in NAMES)} <= links


def test_the_current_page_is_marked(browser: FlaskClient) -> None:
    assert '<a href="/docs/apps" aria-current="page">Apps</a>' in browser.get("/docs/apps").text
    assert '<a href="/docs" aria-current="page">' in browser.get("/docs").text


def test_other_names_are_no_pages(browser: FlaskClient) -> None:
    for path in ("/docs/nothing", "/docs/contract.md", "/docs/api.html", "/docs/../app", "/docs/parts"):
        assert browser.get(path).status_code == 404, path


def test_a_search_shows_where_the_words_are(browser: FlaskClient) -> None:
    page = browser.get("/docs/search?q=signing+key").text
    assert "<mark>signing</mark>" in page and 'href="/docs/contract#' in page
    assert 'value="signing key"' in page
    assert "Nothing in the manual" in browser.get("/docs/search?q=zzzzzz").text


def test_a_hostile_search_is_escaped_and_cut(browser: FlaskClient) -> None:
    page = browser.get("/docs/search", query_string={"q": HOSTILE}).text
    assert "<script" not in page and "<img" not in page and "&lt;script&gt;" in page
    assert browser.get("/docs/search", query_string={"q": "<" * 100_000}).text.count("&lt;") < 1_000
    assert browser.get("/docs/search?q=%00%ff%0d%0aSet-Cookie:x").status_code == 200


def test_it_wears_the_theme_that_the_browser_was_given(browser: FlaskClient) -> None:
    assert 'data-theme="auto"' in browser.get("/docs").text
    for theme, shown in (("dark", "dark"), ('x" onload="y', "auto")):
        browser.set_cookie("theme", theme)
        assert f'data-theme="{shown}"' in browser.get("/docs").text


def test_pages_travel_packed_and_once(browser: FlaskClient) -> None:
    plain, packed = browser.get("/docs/contract"), browser.get("/docs/contract", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data) == plain.data and len(packed.data) * 3 < len(plain.data)
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding, Cookie"
    again = browser.get("/docs/contract", headers={"If-None-Match": plain.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize("name", FILES)
def test_a_file_to_copy_is_shown_as_it_stands_and_saved_by_its_name(browser: FlaskClient, name: str) -> None:
    answer = browser.get(f"/docs/files/{name}")
    assert (answer.status_code, answer.mimetype, answer.text) == (200, "text/plain", FILES[name].read())
    assert answer.headers["Content-Disposition"] == f'inline; filename="{name}"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_nothing_else_is_a_file_to_copy(browser: FlaskClient) -> None:
    for name in ("nothing", "..%2Finstall.md", "../install.md", "%2e%2e/install.md", "patchbay.service/x"):
        assert browser.get(f"/docs/files/{name}").status_code == 404, name


def test_security_says_what_holds_on_this_machine(browser: FlaskClient) -> None:
    text = browser.get("/docs/security").text
    assert '<a href="#this-machine">What holds on this machine</a>' in text
    assert '<h2 id="this-machine">What holds on this machine</h2>' in text
    assert "<strong>Holds:</strong> It reads &lt;b&gt;little&lt;/b&gt;." in text
    assert "<strong>Does not hold:</strong> It has a way out." in text
    assert "this-machine" not in browser.get("/docs/guide").text
