"""The API over a service of the tests' own, and a cast: a server with OAuth tokens, frontends with Connect tokens.

Every answer that succeeds is held to the model that its operation declares, whichever test asks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Response, request
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.service.api.reference.answers import misfits
from webapp.kit.clock import FakeClock
from webapp.service.api.base.addresses import collapse_slashes
from webapp.service.api.base.models import NoContent, RawContent
from webapp.service.api.table import OPERATIONS
from webapp.service.api.wiring import NAME, register
from webapp.service.domain.access import access_tokens, oauth_clients, tokens
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
    misfits: list[str] = field(default_factory=list)
    """What the last answers have against the models of their operations."""

    def server(self, scope: str | None = None, project_id: str | None = None) -> str:
        """An OAuth access token."""
        client, _ = oauth_clients.create(self.service, name="Server", project_id=project_id)
        return access_tokens.issue(self.service, client, scope).token

    def frontend(self, user: str = "alice", scene: Scene | None = None, **order: Any) -> str:
        """A Connect token."""
        wanted = tokens.TokenRequest(user, **order)
        return str(tokens.create(self.service, scene or self.scene, wanted, client_id=None)["token"])

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
        answer = self.http.open(path, method=method, headers=headers, **more)
        problems, self.misfits[:] = "\n".join(self.misfits), ()
        assert not problems, f"{method} {path} declares another answer: {problems}"
        return answer

    def get(self, path: str, token: str | None = None, **more: Any) -> TestResponse:
        return self.call("GET", path, token, **more)

    def post(self, path: str, token: str | None = None, **more: Any) -> TestResponse:
        return self.call("POST", path, token, **more)


MakeWorld = Callable[[Service, FakeClock], World]
ANSWERS = {f"{NAME}.{one.name}": one.answer for one in OPERATIONS if not isinstance(one.answer, NoContent | RawContent)}


@pytest.fixture(scope="session")
def make_world(plant_in: Callable[[Service, Scene], Callable[..., Account]]) -> MakeWorld:
    """Puts the API and one project on a service."""

    def make(service: Service, clock: FakeClock) -> World:
        app = Flask("api_tests")
        register(app, service)
        app.wsgi_app = collapse_slashes(app.wsgi_app)  # type: ignore[method-assign, assignment]
        made = projects.create(service, name="Acme", app_name="Acme App", support_email="help@acme.example")
        scene = Scene(made.id, "development")
        world = World(service, clock, app.test_client(use_cookies=False), scene, plant_in(service, scene))

        @app.after_request
        def check(response: Response) -> Response:
            if response.status_code == 200 and request.endpoint in ANSWERS:
                problems = misfits(ANSWERS[request.endpoint], response.get_data())
                world.misfits += [f"{request.endpoint}: {problem}" for problem in problems]
            return response

        return world

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
