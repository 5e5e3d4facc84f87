"""The Connect Link against the real sandbox, which serves on a loopback port; the browser is a client with cookies."""

import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from tests.once.catalog import linked
from webapp.kit import assets, translation
from webapp.kit.clock import FakeClock
from webapp.kit.crypto import derive
from webapp.sandbox.app import create_sandbox
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Project, Scene
from webapp.service.link import wiring
from webapp.settings import Settings

PUBLIC = "http://localhost:8600"
FORM = "/_static/connect/keys"
CALLBACK = f"{PUBLIC}/connect/oauth/callback"
KEY = "an-instance-key-for-tests-0123456789"
CLIENT_SECRET = derive(derive(KEY.encode(), "instance"), "sandbox-client").hex()


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Speak English again after a test that opened a page in another language."""
    yield
    translation.speak(translation.DEFAULT)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The running sandbox, and a person in front of it."""

    port: int
    requests: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def decide(self, authorize_url: str, decision: str = "allow", person: str = "per_ada", mood: str = "normal") -> str:
        """Press a button on the consent page; the address that the browser is sent to."""
        with requests.Session() as browser:
            shown = browser.get(authorize_url, timeout=10)
            assert shown.status_code == 200, shown.text
            sent = {**hidden(shown.text), "person": person, "behaviour": mood, "decision": decision}
            back = browser.post(f"{self.url}/oauth/authorize", data=sent, timeout=10, allow_redirects=False)
            assert back.status_code == 303, back.text
            return back.headers["Location"]

    def key(self, index: int = 0) -> str:
        """A key that its keys page lists: 0 to 2 work, 3 was switched off."""
        return str(re.findall(r"sbx_live_[0-9a-f]{40}", requests.get(f"{self.url}/keys", timeout=10).text)[index])


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One sandbox for all tests of this folder."""
    server = make_server("localhost", 0, lambda *_: [], threaded=True)
    running = Sandbox(server.server_port)
    app = create_sandbox(
        tmp_path_factory.mktemp("sandbox"),
        running.url,
        "patchbay",
        CLIENT_SECRET,
        [CALLBACK],
        assets.templates_dir(),
        assets.static_dir(),
        slow_seconds=0.2,
    )

    def noting(environ: Any, start_response: Any) -> Any:
        running.requests.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        return app.wsgi_app(environ, start_response)

    server.app = noting
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield running
    server.shutdown()
    thread.join()
    server.server_close()


class World:
    """One installation over a data folder. :meth:`restart` is a crash and a new start."""

    def __init__(self, data: Path, clock: FakeClock, sandbox: Sandbox) -> None:
        self.sandbox, self.clock = sandbox, clock
        self._settings = Settings.from_env(
            {"PATCHBAY_SECRET_KEY": KEY, "PATCHBAY_SANDBOX_PORT": str(sandbox.port)}, data=data
        )
        self.service, self.app = self._start()
        self.project = projects.create(self.service, name="Acme", support_email="help@acme.example")
        self.scene = Scene(self.project.id, "development")

    def restart(self) -> None:
        close_service(self.service)
        self.service, self.app = self._start()

    def close(self) -> None:
        close_service(self.service)

    def browser(self) -> "Browser":
        return Browser(self)

    def token(self, user: str = "alice", **order: Any) -> str:
        return str(
            connect_tokens.create(self.service, self.scene, TokenRequest(user, **order), client_id=None)["token"]
        )

    def accounts(self) -> list[Account]:
        from webapp.kit.cursors import Window

        return list(accounts.page(self.service.store, self.scene, accounts.Filter(), Window()).items)

    def _start(self) -> tuple[Service, Flask]:
        service = open_service(self._settings, self.clock)
        app = Flask(
            "webapp",
            template_folder=str(assets.templates_dir()),
            static_folder=str(assets.static_dir()),
            static_url_path="/static",
        )
        app.testing = True
        wiring.register(app, service)
        return service, app


class Browser:
    """A browser without JavaScript: it keeps cookies across restarts, and follows links and forms by hand."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._clients: dict[int, FlaskClient] = {}
        self._client = world.app.test_client()

    @property
    def client(self) -> FlaskClient:
        if self._client.application is not self.world.app:
            fresh = self.world.app.test_client()
            fresh._cookies = self._client._cookies
            self._client = fresh
        return self._client

    def get(self, url: str, **headers: str) -> TestResponse:
        return self.client.get(_path(url), base_url=PUBLIC, headers=_named(headers))

    def post(self, url: str, data: Mapping[str, str], **headers: str) -> TestResponse:
        return self.client.post(_path(url), base_url=PUBLIC, data=dict(data), headers=_named(headers))

    def open(self, token: str, query: str = "&connectLink=true&app=sandbox") -> TestResponse:
        """Open the link as a page of its own; the page behind the 303."""
        answer = self.get(f"/_static/connect.html?token={token}{query}", sec_fetch_dest="document")
        return self.get(answer.headers["Location"]) if answer.status_code == 303 else answer

    def frame(self, token: str, query: str = "&app=sandbox") -> TestResponse:
        """Open the link inside a frame."""
        return self.get(f"/_static/connect.html?token={token}{query}", sec_fetch_dest="iframe")

    def start(self, page: TestResponse, *, window: bool = False, profile: str = "full") -> TestResponse:
        """Follow the page's start link."""
        url = unescape(re.search(rf'data-start href="([^"]*profile={profile}[^"]*)"', page.text)[1])  # type: ignore[index]
        url = re.sub(r"window=\d", f"window={int(window)}", url)
        return self.get(url, sec_fetch_site="same-origin")

    def callback(self, page: TestResponse, *, window: bool = False, **decision: str) -> TestResponse:
        """Start, decide at the provider, and come back."""
        begun = self.start(page, window=window)
        assert begun.status_code == 303, begun.text
        return self.get(self.world.sandbox.decide(begun.headers["Location"], **decision))


@pytest.fixture
def world(data: Path, clock: FakeClock, sandbox: Sandbox, migrated: Path, built_catalog: Path) -> Iterator[World]:
    """An installation whose project is Acme's."""
    shutil.copy(migrated, data)
    linked(built_catalog, data)
    made = World(data, clock, sandbox)
    yield made
    made.close()


@pytest.fixture
def project(world: World) -> Project:
    return world.project


@pytest.fixture
def browser(world: World) -> Browser:
    """Alice's browser."""
    return world.browser()


@pytest.fixture
def hidden_fields() -> Any:
    """What reads the hidden fields of a page, or of its form with a given action."""
    return lambda page, action=None: form(page, action) if action else hidden(page)


def hidden(page: str) -> dict[str, str]:
    """The hidden fields of a page."""
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page)
    return {unescape(name): unescape(value) for name, value in found}


def query(url: str) -> dict[str, str]:
    """The parameters of ``url``."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def form(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the first form with that action."""
    return hidden(re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', page, re.DOTALL)[0])  # type: ignore[index]


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-").title(): value for name, value in headers.items()}


def opened(world: Any, browser: Any, app: str = "sandbox_basic", **order: Any) -> Any:
    """The link's page for ``app``, opened with a fresh token."""
    return browser.open(world.token(**order), f"&connectLink=true&app={app}")
