"""The API over a service of the tests' own, and a cast: a server with OAuth tokens, frontends with Connect tokens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.service.api.application import Application
from webapp.kit.clock import FakeClock
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene


@dataclass
class World:
    """Everything a test of the API needs. ``call`` expands a leading ``P`` to the project's path."""

    service: Service
    clock: FakeClock
    http: FlaskClient
    scene: Scene
    plant: Callable[..., Account]

    def server(self, scope: str | None = None, project_id: str | None = None) -> str:
        """An OAuth access token."""
        client, _ = oauth_clients.create(self.service, name="Server", project_id=project_id)
        return access_tokens.issue(self.service, client, scope).token

    def frontend(self, user: str = "alice", scene: Scene | None = None, **order: Any) -> str:
        """A Connect token."""
        wanted = connect_tokens.TokenRequest(user, **order)
        return str(connect_tokens.create(self.service, scene or self.scene, wanted, client_id=None)["token"])

    def call(
        self, method: str, path: str, token: str | None = None, *, env: str | None = "development", **more: Any
    ) -> TestResponse:
        """One request. ``env`` goes into x-pd-environment on a project's path that has an OAuth token."""
        headers = dict(more.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if path.startswith("P/"):
            path = f"/v1/connect/{self.scene.project_id}{path[1:]}"
            if env is not None and not (token or "").startswith("ctok_"):
                headers["x-pd-environment"] = env
        return self.http.open(path, method=method, headers=headers, **more)

    def get(self, path: str, token: str | None = None, **more: Any) -> TestResponse:
        return self.call("GET", path, token, **more)

    def post(self, path: str, token: str | None = None, **more: Any) -> TestResponse:
        return self.call("POST", path, token, **more)


MakeWorld = Callable[[Service, FakeClock], World]


@pytest.fixture(scope="session")
def make_world(plant_in: Callable[[Service, Scene], Callable[..., Account]]) -> MakeWorld:
    """Puts the API and one project on a service."""

    def make(service: Service, clock: FakeClock) -> World:
        made = projects.create(service, name="Acme", app_name="Acme App", support_email="help@acme.example")
        scene = Scene(made.id, "development")
        http = Application(service).test_client(use_cookies=False)
        return World(service, clock, http, scene, plant_in(service, scene))

    return make


@pytest.fixture
def world(service: Service, clock: FakeClock, make_world: MakeWorld) -> World:
    """A fresh world for one test."""
    return make_world(service, clock)


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory,
    open_at: Callable[[Path, FakeClock], Service],
    make_world: MakeWorld,
) -> Iterator[World]:
    """One world for a whole module whose tests only look, or are refused."""
    clock = FakeClock()
    service = open_at(tmp_path_factory.mktemp("shared"), clock)
    yield make_world(service, clock)
    close_service(service)
