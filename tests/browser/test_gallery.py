"""Every component on one page, in Chromium: no CSP report, axe clean in both themes, 320 px, keyboard, no script."""

import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flask
import jinja2
import pytest
from playwright.sync_api import expect
from simpleicons.all import icons
from werkzeug.serving import make_server

from tests.browser.conftest import PATIENCE_MS, need
from webapp import static_files
from webapp.dashboard.shell import MenuItem, SceneChoice
from webapp.kit import assets, templates, translation

pytestmark = pytest.mark.browser

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGES = ["/", "/link", "/ending", "/signin", "/error"]
NOW = 1_800_000_000_000
"""Epoch milliseconds; the page's relative times are counted from the browser's own clock once it runs."""


def policy(nonce: str) -> str:
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; report-uri /csp-report"
    )


def gallery() -> flask.Flask:
    """An application with the real layouts and macros; ``app.reports`` counts what browsers report."""
    app = flask.Flask(__name__, static_folder=str(assets.static_dir()))
    folders = [str(assets.templates_dir()), str(HERE / "gallery")]
    # As the product sends them: style sheets in one piece.
    app.view_functions["static"] = lambda filename: static_files.sent(filename) or app.send_static_file(filename)
    app.jinja_loader = jinja2.FileSystemLoader(folders)
    app.jinja_env.undefined = jinja2.StrictUndefined
    templates.prepare(app.jinja_env)
    app.config["reports"] = []
    app.config["posts"] = []

    @app.context_processor
    def context() -> dict[str, Any]:
        flask.g.nonce = secrets.token_urlsafe(12)
        return {
            "asset": assets.asset_url,
            "csp_nonce": flask.g.nonce,
            "theme": flask.request.cookies.get("theme", "auto"),
            "brand": {"name": "Patchbay", "hue": 264, "logo": None},
            "csrf_token": lambda: "token-1",
            "environments": (
                SceneChoice("development", "Development", current=True),
                SceneChoice("production", "Production", current=False, live=True),
            ),
            "nav": (
                MenuItem("Apps", "/", "apps", current=True, total=164),
                MenuItem("Accounts", "#", "accounts", current=False, bad="1 needs you"),
                MenuItem("Triggers", "#", "triggers", current=False, total=6),
                MenuItem("Logs", "#", "logs", current=False),
            ),
            "nav_build": (MenuItem("Embed", "#", "embed", current=False),),
            "search_url": "/search",
            "person": {"email": "alice@example.com", "role": "owner", "initials": "AL"},
            "times": [translation.moment(NOW - ago, NOW) for ago in (180_000, 7_200_000, 40 * 86_400_000)],
            "bars": [{"height": (i * 37 % 16 + 6) / 22, "tone": "x" if i in (39, 40) else "ok"} for i in range(48)],
            "logos": {"GitHub": "/logo/github.svg", "Stripe": "/logo/stripe.svg"},
        }

    @app.after_request
    def headers(response: flask.Response) -> flask.Response:
        response.headers["Content-Security-Policy"] = policy(flask.g.get("nonce", "none"))
        return response

    pages = {"/": "gallery.html", "/link": "link.html", "/ending": "ending.html", "/signin": "signin.html"}
    for path, name in pages.items():
        app.add_url_rule(path, name, lambda name=name: flask.render_template(name))
    error = {"code": 404, "heading": "Page not found", "message": "There is nothing at this address."}
    app.add_url_rule("/error", "error", lambda: flask.render_template("layouts/error.html", **error))

    @app.get("/logo/<slug>.svg")
    def logo(slug: str) -> flask.Response:
        icon = icons.get(slug)
        assert icon is not None
        svg = icon.svg.replace("<svg ", f'<svg fill="#{icon.hex}" ', 1)
        return flask.Response(svg, mimetype="image/svg+xml")

    @app.post("/csp-report")
    def report() -> str:
        app.config["reports"].append(flask.request.get_data(as_text=True))
        return ""

    @app.post("/fragment")
    def fragment() -> str:
        sent = flask.request.headers.get("X-CSRFToken")
        return f'<h2 data-focus data-announce="Loaded.">Fragment {sent}</h2>'

    @app.get("/fails")
    def fails() -> tuple[str, int]:
        return '<p class="bad">The service does not answer.</p>', 503

    @app.get("/fails-page")
    def fails_page() -> tuple[str, int]:
        return "<!doctype html><html><h1>Traceback of a proxy</h1></html>", 502

    @app.post("/invalid")
    def invalid() -> tuple[str, int]:
        return "<p>Enter a title.</p>", 422

    @app.get("/pushed")
    def pushed() -> str:
        if flask.request.headers.get("HX-Request"):
            return "<p>Pushed</p>"
        return flask.render_template("gallery.html")

    @app.post("/slow")
    def slow() -> str:
        app.config["posts"].append(dict(flask.request.form))
        gate.wait(5)
        return flask.render_template("signin.html")

    gate = threading.Event()
    app.config["gate"] = gate
    return app


@pytest.fixture(scope="module")
def app() -> flask.Flask:
    need((assets.static_dir() / "vendor" / "stamp.json").is_file(), "run `python -m webapp.frontend` first")
    return gallery()


@pytest.fixture(scope="module")
def url(app: flask.Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def page(chromium: Any, app: flask.Flask) -> Iterator[Any]:
    """A page that must end without a console error or a CSP report, unless the test empties ``page.problems``."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    problems: list[str] = []
    page.problems = problems
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.extend([message.text] if message.type == "error" else []))
    app.config["reports"].clear()
    yield page
    context.close()
    assert problems == []
    assert app.config["reports"] == []


@pytest.fixture(scope="module")
def axe() -> str:
    file = ROOT / "instance" / "node" / "node_modules" / "axe-core" / "axe.min.js"
    need(file.is_file(), "axe-core is missing; run `python -m webapp.frontend --tests`")
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(page: Any, url: str, axe: str, path: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(url + path)
    page.evaluate("document.fonts.ready")
    page.evaluate(axe)
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("tags => axe.run({runOnly: tags})", tags)
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]] == []


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", [320, 360, 768])
def test_no_sideways_scrolling(page: Any, url: str, path: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(url + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_targets_are_large_enough(page: Any, url: str) -> None:
    page.goto(url)
    small = page.evaluate("""() =>
        [...document.querySelectorAll('button, summary, .nav a, .chip, .btn, .tabs a, .crumbs a')]
        .filter(e => e.checkVisibility()).map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
        .filter(([, box]) => box.width < 24 || box.height < 24).map(([html]) => html)""")
    assert small == []


def test_inter_is_used_and_the_page_is_light(page: Any, url: str) -> None:
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(url + "/signin")
    page.evaluate("document.fonts.ready")
    assert page.evaluate("document.fonts.check('600 15px Inter')")
    assert sum(sizes) < 150_000


def test_menu_opens_on_a_phone_without_javascript(chromium: Any, url: str) -> None:
    context = chromium.new_context(viewport={"width": 360, "height": 700}, java_script_enabled=False)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(url)
    link = page.get_by_role("link", name="Accounts")
    assert not link.is_visible()
    page.get_by_role("button", name="Menu").click()
    assert link.is_visible()
    context.close()


def test_fragment_carries_the_csrf_token_moves_focus_and_is_announced(page: Any, url: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="Load a fragment").click()
    page.get_by_text("Fragment token-1").wait_for()
    page.wait_for_function("document.activeElement.textContent === 'Fragment token-1'")
    assert page.locator("#status").inner_text() == "Loaded."
    expect(page.locator("#swap button")).to_be_enabled()


def test_failures_go_to_the_status_region(page: Any, url: str) -> None:
    page.goto(url)
    page.locator("#fails").click()
    page.locator("#status", has_text="does not answer").wait_for()
    page.locator("#fails-page").click()
    page.locator("#status", has_text="went wrong").wait_for()
    assert page.locator("#out").inner_text() == "Nothing yet"
    page.locator("#invalid").click()
    page.locator("#out", has_text="Enter a title.").wait_for()
    assert all("the server responded with a status" in problem for problem in page.problems)
    page.problems.clear()


def test_unreachable_server_is_said(page: Any, url: str) -> None:
    page.goto(url)
    page.context.set_offline(True)
    page.locator("#invalid").click()
    page.locator("#status", has_text="can’t be reached").wait_for()
    page.problems.clear()


def test_history_restores_a_whole_page(page: Any, url: str) -> None:
    page.goto(url)
    page.locator("#push").click()
    page.wait_for_url(url + "/pushed")
    page.locator("#out", has_text="Pushed").wait_for()
    page.go_back()
    page.locator("#out", has_text="Nothing yet").wait_for()
    assert page.locator("h1").inner_text() == "Apps"


def test_form_is_sent_once(page: Any, url: str, app: flask.Flask) -> None:
    app.config["posts"].clear()
    app.config["gate"].clear()
    page.goto(url)
    page.get_by_role("button", name="Run action").dblclick(no_wait_after=True)
    app.config["gate"].set()
    page.get_by_role("heading", name="Sign in").wait_for()
    assert len(app.config["posts"]) == 1
    assert app.config["posts"][0]["run"] == "1"


def test_keys(page: Any, url: str) -> None:
    page.goto(url)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("a/?")
    assert page.locator("main [name=q]").input_value() == "a/?"
    page.locator("body").click(position={"x": 640, "y": 5})
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    page.get_by_label("Use single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert not page.locator("#keys").is_visible()


def test_secret_is_shown_and_hidden_again(page: Any, url: str) -> None:
    page.goto(url)
    field = page.locator("#f-api_key")
    page.get_by_role("button", name="Show API key").click()
    assert field.get_attribute("type") == "text"
    page.get_by_role("button", name="Show API key").click()
    assert field.get_attribute("type") == "password"


def test_copy_and_dialog_and_theme(page: Any, url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(url)
    page.locator(".copy [data-copy]").click()
    page.locator("#status", has_text="Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "https://hooks.acme.example/github/issues"
    page.locator("main > .stack > .row [data-dialog=sure]").click()
    assert page.get_by_role("dialog", name="Disconnect Marketing sheet?").is_visible()
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="Dark").click()
    page.reload()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
