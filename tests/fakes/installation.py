"""A whole installation for tests: the application over a data folder, served on loopback, stopped and started again."""

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import requests
from waitress import wasyncore
from waitress.server import create_server

from tests.fakes.ports import free_port
from tests.once import folders, stores
from webapp.app import create_app
from webapp.kit.clock import Clock, now
from webapp.kit.cursors import MAX_LIMIT, Window
from webapp.service.catalog.build import ensure
from webapp.service.catalog.sources import Places
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import wake_nobody
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard, Resolver
from webapp.settings import Settings

KEY = "an-instance-key-for-tests-0123456789"


class Installation:
    """One installation: ``app`` for a test client, :attr:`url` while :meth:`start` has it served."""

    def __init__(
        self,
        data: Path,
        *,
        clock: Clock = now,
        port: int | None = None,
        resolver: Resolver | None = None,
        wake: Callable[[], None] = wake_nobody,
        **env: str,
    ) -> None:
        """``resolver`` stands in for the DNS, ``wake`` for the worker's pipe; ``env`` are further settings."""
        self.data, self.clock, self._resolver, self._wake = data, clock, resolver, wake
        self._port = port or free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.settings = Settings.from_env(
            {
                "PATCHBAY_SECRET_KEY": KEY,
                "PATCHBAY_PUBLIC_URL": self.url,
                "PATCHBAY_PORT": str(self._port),
                "PATCHBAY_SANDBOX_PORT": str(self._port - 1),
                **env,
            },
            data=data,
        )
        self._server: Any = None
        self._open()
        self.project = projects.create(self.service, name="Acme", app_name="Acme", support_email="help@acme.example")
        self.scene = Scene(self.project.id, "development")

    def start(self) -> "Installation":
        """Serve it on its own port."""
        listener = socket.create_server(("127.0.0.1", self._port), backlog=128)
        self._server = _Server(self.app, listener)
        return self

    def stop(self) -> None:
        """End it; the data folder stays."""
        self.stop_serving()
        close_service(self.service)

    def stop_serving(self) -> None:
        """Leave the port, so that another process can have it."""
        if self._server:
            self._server.stop()
            self._server = None

    def restart(self) -> None:
        """End it and begin again over the same folder, with nothing left in memory."""
        serving = self._server is not None
        self.stop()
        self._open()
        if serving:
            self.start()

    def begin_again(self, settings: Settings) -> None:
        """Open the folder after :meth:`stop`, with these settings."""
        self.settings = settings
        self._open()

    def token(self, user: str = "alice", **order: Any) -> str:
        """A Connect token."""
        return str(
            connect_tokens.create(self.service, self.scene, TokenRequest(user, **order), client_id=None)["token"]
        )

    def link(self, token: str, app: str, **parameters: str) -> str:
        """The address that a product gives to a person."""
        more = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"{self.url}/_static/connect.html?token={token}&connectLink=true&app={app}{more}"

    def server_token(self, scope: str | None = None) -> str:
        """An OAuth access token of a client of this project."""
        client, _ = oauth_clients.create(self.service, name="Server", project_id=self.project.id)
        return access_tokens.issue(self.service, client, scope).token

    def api(self, method: str, path: str, token: str, **more: Any) -> requests.Response:
        """One call of the API below the project, over HTTP."""
        headers = {"Authorization": f"Bearer {token}", "x-pd-environment": "development"}
        address = f"{self.url}/v1/connect/{self.project.id}/{path}"
        return requests.request(method, address, headers=headers, timeout=60, **more)

    def accounts(self) -> list[Account]:
        """All accounts of the scene, page by page."""
        found: list[Account] = []
        after: str | None = None
        while after != "":
            page = accounts.page(self.service.store, self.scene, accounts.Filter(), Window(MAX_LIMIT, after=after))
            found += page.items
            after = page.end_cursor
        return found

    def _open(self) -> None:
        self.service = open_service(self.settings, self.clock, wake=self._wake)
        if self._resolver:
            guard = Guard(self.settings.allow_hosts, resolver=self._resolver)
            self.service = replace(self.service, outbound=OutboundClient(guard, user_agent="Patchbay/tests"))
        self.app = create_app(self.settings, service=self.service, clock=self.clock)


class _Server:
    def __init__(self, wsgi: Any, listener: socket.socket) -> None:
        self._connections: dict[int, Any] = {}
        self._server = create_server(wsgi, map=self._connections, sockets=[listener], threads=16, ident=None)
        self._stopping = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        with suppress(OSError, StopIteration):  # it has ended by itself just now
            self._listener().pull_trigger()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping:
            wasyncore.loop(timeout=5, use_poll=True, map=self._connections, count=1)
        self._server.task_dispatcher.shutdown(timeout=5)
        wasyncore.close_all(self._connections)

    def _listener(self) -> Any:
        return next(one for one in self._connections.values() if hasattr(one, "channel_class"))


def write_app(folder: Path, slug: str, facts: str) -> None:
    """Put an app of the operator's own into a data folder."""
    (folder / "apps" / slug).mkdir(parents=True)
    (folder / "apps" / slug / "app.toml").write_text(facts, "utf-8")


def prepared(folder: Path, apps: Mapping[str, str]) -> Path:
    """``folder`` with ``apps``, a catalog built from them and the schema, to be copied by :func:`copied`."""
    for slug, facts in apps.items():
        write_app(folder, slug, facts)
    report = ensure(folder / "catalog.db", Places.of(folder))
    assert report.problems == ()
    with closing(stores.opened(folder / "patchbay.db")) as store:
        store.migrate()
    return folder


def copied(prepared_folder: Path, data: Path) -> Path:
    """``data`` with what was prepared once."""
    return folders.copy(prepared_folder, data)
