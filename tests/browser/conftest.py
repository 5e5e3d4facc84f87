"""The whole product in Chromium: web application and sandbox on loopback ports, over an empty data folder.

``product`` is the running installation, ``chromium`` the browser, ``page`` a page of its own context that must end
without a script error or a report of the Content-Security-Policy; ``axe(page)`` gives what axe-core finds.
``embedder`` is somebody else's product on another origin, which frames ours; tests with the marker ``whole_chromium``
have a browser that blocks third-party cookies.
"""

import atexit
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from werkzeug.serving import BaseWSGIServer, make_server

from tests.browser.person import Person
from tests.fakes.served import Served, served
from webapp.app import create_app
from webapp.kit import assets
from webapp.kit.cursors import Window
from webapp.sandbox.app import create_sandbox
from webapp.sandbox.product.pages import Product as Example
from webapp.sandbox.product.server import Connect
from webapp.service.domain.access import connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import accounts, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
SHELL = Path("/usr/bin/chromium-headless-shell")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--test-third-party-cookie-phaseout",
]
# A colour that is still fading in is nobody's colour; what spins for ever, or moves as one scrolls, is not waited for.
AT_REST = """() => Promise.race([new Promise((resolve) => setTimeout(resolve, 3000)),
    Promise.allSettled(document.getAnimations()
        .filter((each) => each.timeline instanceof DocumentTimeline)
        .filter((each) => each.effect.getComputedTiming().endTime !== Infinity).map((each) => each.finished))])"""
"""Waits for what moves; not for long, as an animation whose element is taken away meanwhile may never finish."""
PATIENCE_MS = 30_000
"""How long a page may take for anything that is waited for: on a busy machine, some take ten seconds and more."""
COLOURS = ["color-contrast", "link-in-text-block"]
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def need(condition: bool, reason: str) -> None:
    """Skip where something is missing; in CI, which installs everything, fail instead."""
    if not condition:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


class Product:
    """A running installation, whose one project is Acme's."""

    def __init__(self, service: Service, url: str, sandbox: BaseWSGIServer) -> None:
        self.service, self.url, self._sandbox = service, url, sandbox
        self.sandbox_url = service.settings.sandbox_url
        self.project = projects.create(service, name="Acme", support_email="help@acme.example")
        self.scene = Scene(self.project.id, "development")

    def token(self, user: str = "alice@example.com", **order: Any) -> str:
        """A Connect token for ``user``."""
        return str(
            connect_tokens.create(self.service, self.scene, TokenRequest(user, **order), client_id=None)["token"]
        )

    def link(self, user: str = "alice@example.com", app: str | None = "sandbox", **order: Any) -> str:
        """The address of a hosted Connect Link."""
        chosen = f"&app={app}" if app else ""
        return f"{self.url}/_static/connect.html?token={self.token(user, **order)}&connectLink=true{chosen}"

    @contextmanager
    def outage(self, path: str) -> Iterator[None]:
        """The sandbox answers 503 below ``path``, until the end of the block."""
        whole = self._sandbox.app

        def broken(environ: Any, start_response: Any) -> Any:
            if not environ["PATH_INFO"].startswith(path):
                return whole(environ, start_response)
            start_response("503 Service Unavailable", [("Content-Type", "text/plain")])
            return [b"Down for maintenance."]

        self._sandbox.app = broken
        try:
            yield
        finally:
            self._sandbox.app = whole

    def accounts(self, user: str = "alice@example.com") -> list[Account]:
        """The accounts of ``user``, oldest first."""
        found = accounts.page(self.service.store, self.scene, accounts.Filter(external_id=user), Window(limit=100))
        return list(found.items)


@contextmanager
def serving(app: Any, host: str = "localhost", port: int = 0) -> Iterator[BaseWSGIServer]:
    """``app`` on a loopback port, a free one unless it is given; when it is None, set ``server.app`` once the port is
    known."""
    server = make_server(host, port, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product for one module of tests; tests keep apart by their users."""
    need((assets.static_dir() / "vendor" / "stamp.json").is_file(), "run `python -m webapp.frontend` first")
    data = tmp_path_factory.mktemp("product")
    with serving(None) as web, serving(None) as third:
        environment = {"PATCHBAY_PORT": str(web.server_port), "PATCHBAY_SANDBOX_PORT": str(third.server_port)}
        settings = Settings.from_env(environment, data=data)
        service = open_service(settings)
        try:
            web.app = create_app(settings, service=service)
            third.app = create_sandbox(
                data / "sandbox",
                settings.sandbox_url,
                *oauth_apps.ensure_sandbox(service),
                [f"{settings.public_url}/connect/oauth/callback"],
                assets.templates_dir(),
                assets.static_dir(),
                slow_seconds=0.3,
                example=Example(
                    settings.public_url, Connect(settings.public_url, *oauth_clients.example(service), "development")
                ),
            )
            yield Product(service, settings.public_url, third)
        finally:
            close_service(service)


class Embedder:
    """Another product, on an origin of its own: ``page(url)`` is the address of its page that frames ``url``."""

    def __init__(self, origin: str) -> None:
        self.origin = origin

    def page(self, url: str) -> str:
        from urllib.parse import quote

        return f"{self.origin}/?frame={quote(url, safe='')}"


def _host_page(environ: Any, start_response: Any) -> list[bytes]:
    wish = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
    isolation = [("Cross-Origin-Opener-Policy", wish["coop"])] if "coop" in wish else []
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), *isolation])
    return [
        f"""<!doctype html><html lang="en"><title>Acme</title>{wish.get("head", "")}<h1>Acme</h1>
<script>window.messages = []; addEventListener("message", (e) => messages.push([e.origin, e.data]));</script>
<iframe src="{escape(wish.get("frame", ""))}" title="Connect" width="460" height="700"
style="{escape(wish.get("style", ""))}"></iframe></html>""".encode()
    ]


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    """Somebody else's product. 127.0.0.1 and localhost are different sites to a browser."""
    with serving(_host_page, "127.0.0.1") as server:
        yield Embedder(f"http://127.0.0.1:{server.server_port}")


@pytest.fixture(scope="module")
def other_embedder() -> Iterator[Embedder]:
    """One more, which no token allows."""
    with serving(_host_page, "127.0.0.1") as server:
        yield Embedder(f"http://127.0.0.1:{server.server_port}")


@pytest.fixture(scope="session")
def chromium() -> Any:
    """Chromium's headless shell where the machine has it: the same engine for a third of the CPU time, as it draws no
    window. It lets third-party cookies pass, and stops where a test redirects another site's address to loopback."""
    return _launched(SHELL if SHELL.exists() else CHROMIUM)


@pytest.fixture(scope="session")
def whole_chromium() -> Any:
    """The machine's Chromium, with third-party cookies blocked."""
    return _launched(CHROMIUM)


@cache
def _launched(command: Path) -> Any:
    """A browser for all tests of the process, wherever these fixtures are imported."""
    need(command.exists(), f"there is no Chromium at {command}")
    browser = _driver().chromium.launch(executable_path=str(command), args=FLAGS)
    atexit.register(browser.close)
    return browser


@cache
def _driver() -> Any:
    """Playwright's, which starts browsers."""
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect.set_options(timeout=PATIENCE_MS)
    started = playwright.sync_playwright().start()
    atexit.register(started.stop)
    return started


@pytest.fixture
def contexts(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Makes browser contexts whose pages must end without a script error or a report of the CSP."""
    whole = request.node.get_closest_marker("whole_chromium") is not None
    browser = request.getfixturevalue("whole_chromium" if whole else "chromium")
    problems: list[str] = []
    opened = []

    def make(**options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        context.set_default_timeout(PATIENCE_MS)
        context.problems = problems
        context.on("weberror", lambda error: problems.append(str(error.error)))
        context.on("console", lambda message: _note(problems, message))
        opened.append(context)
        return context

    yield make
    for context in opened:
        context.close()
    assert problems == []


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Iterator[Served]:
    """``patchbay serve``, started for the first time, for the tests of one module."""
    need((assets.static_dir() / "vendor" / "stamp.json").is_file(), "run `python -m webapp.frontend` first")
    # One second: the least interval at which a trigger may poll.
    with served(tmp_path_factory.mktemp("started") / "data", PATCHBAY_MIN_POLL_S="1") as found:
        yield found


@pytest.fixture(scope="module")
def connected(started: Served, chromium: Any) -> Any:
    """The cookies of somebody who has just connected the sandbox."""
    context = chromium.new_context()
    context.set_default_timeout(PATIENCE_MS)
    ada = Person(context.new_page(), started)
    ada.sign_up(started.start_url)
    ada.choose("Sandbox Tasks")
    ada.decide(ada.leave(), "Allow")
    ada.connected()
    state = context.storage_state()
    context.close()
    return state


def _note(problems: list[str], message: Any) -> None:
    # A page that answers 4xx on purpose is reported by the browser as a failed resource.
    if message.type == "error" and "Failed to load resource" not in message.text:
        problems.append(message.text)


@pytest.fixture
def page(contexts: Callable[..., Any]) -> Any:
    """A page of a fresh context."""
    return contexts().new_page()


@pytest.fixture(scope="session")
def axe() -> Callable[..., list[Any]]:
    """What axe-core finds wrong on a page; only in its ``colours``, for a page that was looked at in another theme."""
    file = ROOT / "instance" / "node" / "node_modules" / "axe-core" / "axe.min.js"
    need(file.is_file(), "axe-core is missing; run `python -m webapp.frontend --tests`")
    source = file.read_text(encoding="utf-8")

    def check(page: Any, *, colours: bool = False) -> list[Any]:
        page.wait_for_load_state()
        page.evaluate("document.fonts.ready")
        page.evaluate(AT_REST)
        if not page.evaluate("'axe' in window"):
            page.evaluate(source)
        only = {"type": "rule", "values": COLOURS} if colours else {"type": "tag", "values": TAGS}
        found = page.evaluate("only => axe.run({runOnly: only, resultTypes: ['violations']})", only)
        return [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found["violations"]]

    return check
