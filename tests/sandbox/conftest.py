"""A sandbox on a real loopback port, and a person's hands on its forms."""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from flask import Flask
from werkzeug.serving import make_server

from webapp.kit.clock import FakeClock, now
from webapp.sandbox.app import create_sandbox
from webapp.sandbox.state import EXTENSION, Sandbox

ROOT = Path(__file__).parents[2]
CALLBACK = "http://127.0.0.1:9/link/callback"
OTHER_CALLBACK = "http://localhost:9/other?kept=1"
CLIENT = ("sandbox-client", "s3cret+/ value")
ALL_SCOPES = "profile tasks:read tasks:write webhooks"
VERIFIER = "v" * 50


@dataclass
class Served:
    """A running sandbox with its clock, and how a client and a person talk to it."""

    url: str
    data: Path
    clock: FakeClock
    app: Flask

    @property
    def sandbox(self) -> Sandbox:
        found = self.app.extensions[EXTENSION]
        assert isinstance(found, Sandbox)
        return found

    def client(self, scope: str = ALL_SCOPES, **options: Any) -> OAuth2Session:
        return OAuth2Session(*CLIENT, scope=scope, redirect_uri=CALLBACK, code_challenge_method="S256", **options)

    def consent(self, address: str, decision: str = "allow", **choices: str) -> requests.Response:
        """Open a consent page, press a button, and give back the redirect, unfollowed."""
        with requests.Session() as browser:
            page = browser.get(address, timeout=10)
            assert page.status_code == 200, page.text
            form = {"person": "per_ada", "behaviour": "normal"} | hidden(page.text) | choices
            return browser.post(
                f"{self.url}/oauth/authorize",
                data=form | {"decision": decision},
                allow_redirects=False,
                timeout=10,
            )

    def code(self, scope: str = ALL_SCOPES, **choices: str) -> str:
        with self.client(scope) as client:
            address, _ = client.create_authorization_url(f"{self.url}/oauth/authorize", code_verifier=VERIFIER)
        return query(self.consent(address, **choices))["code"]

    def token(self, code: str, /, **changes: str) -> requests.Response:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        return self.post_token(form | {"code_verifier": VERIFIER} | changes)

    def refresh(self, token: str, /, **changes: str) -> requests.Response:
        return self.post_token({"grant_type": "refresh_token", "refresh_token": token} | changes)

    def post_token(self, form: dict[str, str]) -> requests.Response:
        credentials = {"client_id": CLIENT[0], "client_secret": CLIENT[1]}
        return requests.post(f"{self.url}/oauth/token", data=credentials | form, timeout=10)

    def connect(self, scope: str = ALL_SCOPES, **choices: str) -> dict[str, Any]:
        answer = self.token(self.code(scope, **choices))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def api(self, method: str, path: str, token: str | None = None, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {"X-Api-Key": self.key()}
        given: dict[str, Any] = {"headers": headers, "timeout": 10}
        return requests.request(method, f"{self.url}/api/{path}", **given | options)

    def key(self, person: int = 0) -> str:
        return self.sandbox.keys.working[person].secret

    def submit(self, page: str, action: str, **form: str) -> requests.Response:
        """Fill in the form of ``page`` that posts to ``action``; the redirect stays unfollowed."""
        with requests.Session() as browser:
            token = hidden(browser.get(f"{self.url}{page}", timeout=10).text)["csrf_token"]
            data = {"csrf_token": token} | form
            return browser.post(f"{self.url}{action}", data=data, allow_redirects=False, timeout=10)


def hidden(html: str) -> dict[str, str]:
    """The hidden fields of a page (of its first form of each name)."""
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', html)
    return {name: value.replace("&amp;", "&") for name, value in reversed(found)}


def query(response: requests.Response) -> dict[str, str]:
    """The query of a redirect's address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(response.headers["Location"]).query).items()}


def build(folder: Path, url: str, clock: FakeClock) -> Flask:
    """A sandbox with short waits."""
    return create_sandbox(
        folder,
        url,
        *CLIENT,
        [CALLBACK, OTHER_CALLBACK],
        ROOT / "templates",
        ROOT / "static",
        clock=clock,
        slow_seconds=0.4,
        receiver_seconds=0.4,
    )


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A sandbox behind a real socket, stopped at the end. Its clock starts at the true time."""
    clock = FakeClock(now())
    server = make_server("127.0.0.1", 0, lambda environ, start: app(environ, start), threaded=True)
    url = f"http://127.0.0.1:{server.server_port}"
    app = build(tmp_path, url, clock)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    yield Served(url, tmp_path, clock, app)
    server.shutdown()
    thread.join()
    server.server_close()
