"""The real server beside a provider that can be held: own components, an app with OAuth, and a client for scripts."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

from tests.cli.conftest import Shell
from tests.faults.running import Client, Running, client_of
from tests.faults.upstream import APP, COMPONENTS, Upstream, providing
from webapp.kit.clock import now
from webapp.kit.crypto import new_id
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.oauth import TokenResult
from webapp.settings import Settings
from webapp.store.stores import open_store


@dataclass
class World:
    """The server, its client for scripts, and the provider that it talks to."""

    server: Running
    client: Client
    upstream: Upstream
    browser: requests.Session = field(default_factory=requests.Session)
    comes_back: str = ""

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        """One call of the API below the project."""
        return requests.request(
            method, f"{self.client.project}{path}", headers=self.client.headers, timeout=40, **options
        )

    def deploy(self) -> str:
        """A trigger with a subscription of its own at the provider; its id."""
        return str(self.client.deploy("~/subscribe", origin=self.upstream.origin, topic=new_id("topic"))["id"])

    def sign_in(self) -> str:
        """Take a browser through the Connect Link to the provider; the id of its one attempt. It is :attr:`browser`
        that comes back to :attr:`comes_back`."""
        made = self.ask("POST", "/tokens", json={"external_user_id": "bob"}).json()
        self.browser = requests.Session()
        link = self.browser.get(f"{made['connect_link_url']}&app=acme", headers={"Sec-Fetch-Dest": "document"})
        start = re.search(r'data-start href="([^"]*)"', link.text)
        assert start, link.text
        self.browser.headers["Sec-Fetch-Site"] = "same-origin"
        begun = self.browser.get(urljoin(link.url, unescape(start[1])), allow_redirects=False)
        asked = parse_qs(urlsplit(begun.headers["Location"]).query)
        self.comes_back = f"{asked['redirect_uri'][0]}?code=c&state={asked['state'][0]}"
        return str(self.rows("SELECT id FROM connect_attempts ORDER BY created_at DESC LIMIT 1")[0][0])

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What stands in the database."""
        with closing(open_store(Settings.from_env({**self.server.shell.env}))) as store:
            return store.tuples(sql)

    def connect(self) -> str:
        """An account whose token has just expired; its id."""
        self.upstream.dead = False
        service = open_service(Settings.from_env({**self.server.shell.env}), now)
        try:
            scene = Scene(self.client.project.rpartition("/")[2], "development")
            client = oauth_apps.choose(service.store, scene.project_id, "acme")
            made = connect_tokens.create(service, scene, connect_tokens.TokenRequest("alice"), client_id=None)
            assert client is not None
            return connections.connect_with_grant(
                service, connect_tokens.verify(service, made["token"]), service.app("acme"), client,
                TokenResult("a", self.upstream.refresh_token, 1, None, "bearer", {}),
                requested=("read",), profile=None, fields={}, account_id=None,
            ).id  # fmt: skip
        finally:
            close_service(service)


@contextmanager
def a_world(shell: Shell, log: Path) -> Iterator[World]:
    """A world over the shell's data folder."""
    with providing() as upstream:
        env = {
            **shell.env, "PATCHBAY_ALLOW_HOSTS": upstream.origin.removeprefix("http://"), "PATCHBAY_MAIL": "off",
            "PATCHBAY_SANDBOX": "off",
        }  # fmt: skip
        server = Running(replace(shell, env=env), log)
        (server.data / "apps" / "acme").mkdir(parents=True)
        (server.data / "apps" / "acme" / "app.toml").write_text(APP.format(origin=upstream.origin))
        for name, source in COMPONENTS.items():
            (server.data / "components" / name).mkdir(parents=True)
            (server.data / "components" / name / "0.0.1.py").write_text(source)
        server.start()
        client = client_of(server)
        project = client.project.rpartition("/")[2]
        words = ("--app", "acme", "--client-id", "patchbay", "--client-secret", "a secret", "--project", project)
        assert server.shell.run("oauth-app", "add", *words).returncode == 0
        yield World(server, client, upstream)
        server.kill()
