"""A whole installation over a folder of its own, and portals in it; its browser keeps no cookie."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.once.catalog import linked
from webapp.app import create_app
from webapp.kit.clock import FakeClock
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

ORIGIN = "https://app.acme.example"


@dataclass
class World:
    """An installation whose project is Acme's."""

    service: Service
    app: Flask
    clock: FakeClock
    scene: Scene

    def token(self, user: str = "alice", scene: Scene | None = None, **order: Any) -> str:
        """A Connect token that Acme's page may frame."""
        request = TokenRequest(user, **{"allowed_origins": [ORIGIN], **order})
        return str(connect_tokens.create(self.service, scene or self.scene, request, client_id=None)["token"])

    def open(self, token: str, query: str = "", **headers: str) -> TestResponse:
        """The first request of a frame on Acme's page."""
        sent = {"Sec-Fetch-Dest": "iframe", "Referer": f"{ORIGIN}/", **headers}
        return self.client().get(f"/portal?token={token}{query}", base_url=self.public, headers=sent)

    def portal(self, user: str = "alice", query: str = "", **order: Any) -> "Portal":
        """An open portal."""
        answer = self.open(self.token(user, **order), query)
        assert answer.status_code == 303, answer.text
        base = re.match(r"/portal/ps_[\w-]+", answer.headers["Location"])
        assert base, answer.headers["Location"]
        return Portal(self, base[0])

    def client(self) -> FlaskClient:
        return self.app.test_client(use_cookies=False)

    def deploy(self, user: str = "alice") -> str:
        """A trigger of ``user``; its id."""
        body = {
            "id": "schedule-custom-interval",
            "external_user_id": user,
            "configured_props": {"cron": {"intervalSeconds": 900}},
        }
        headers = {"Authorization": f"Bearer {self.token(user)}"}
        answer = self.client().post("/v1/connect/triggers/deploy", base_url=self.public, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return str(answer.json["data"]["id"])  # type: ignore[index]

    @property
    def public(self) -> str:
        return self.service.settings.public_url


@dataclass
class Portal:
    """One portal: its pages are below ``base``."""

    world: World
    base: str

    @property
    def handle(self) -> str:
        return self.base.removeprefix("/portal/")

    def get(self, path: str, *, htmx: bool = False, **headers: str) -> TestResponse:
        if htmx:
            current = f"{self.world.public}{self.base}{path}"
            headers |= {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Current-URL": current}
        return self.world.client().get(self.base + path, base_url=self.world.public, headers=headers)

    def post(self, path: str, data: dict[str, str] | None = None, **headers: str) -> TestResponse:
        return self.world.client().post(self.base + path, base_url=self.world.public, data=data or {}, headers=headers)

    def renew(self, token: str, **headers: str) -> TestResponse:
        data = {"handle": self.handle, "token": token}
        client = self.world.client()
        return client.post("/portal/renewal", base_url=self.world.public, data=data, headers=headers)


@pytest.fixture
def world(data: Path, migrated: Path, built_catalog: Path, clock: FakeClock) -> Iterator[World]:
    shutil.copy(migrated, data)
    linked(built_catalog, data)
    service = open_service(Settings.from_env({}, data=data), clock)
    project = projects.create(service, name="Acme", support_email="help@acme.example")
    yield World(
        service, create_app(service.settings, clock=clock, service=service), clock, Scene(project.id, "development")
    )
    close_service(service)
