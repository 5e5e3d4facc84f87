"""The dashboard as it is embedded: over the real service, with an owner, a developer and a member signed in."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from webapp.app import create_app
from webapp.kit.clock import Clock
from webapp.people import sessions, users
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

BASE = "http://localhost:8600"
PASSWORD = "a long password"


class Browser:
    """A browser without JavaScript in which one person is signed in."""

    def __init__(self, client: FlaskClient) -> None:
        self.client, self._token = client, ""

    def get(self, path: str, *, htmx: bool = False, code: int = 200) -> str:
        """A page, or for htmx its part."""
        answer = self.client.get(path, base_url=BASE, headers=_headers(htmx))
        assert answer.status_code == code, (answer.status_code, answer.text[:2000])
        return answer.text

    def send(self, path: str, data: Mapping[str, Any] | None = None, *, htmx: bool = False) -> TestResponse:
        """POST a form with the token of this browser."""
        if not self._token:
            page = self.client.get("/settings", base_url=BASE).text
            self._token = re.findall(r'name="csrf_token" value="([^"]+)"', page)[0]
        body = {"csrf_token": self._token, **(data or {})}
        return self.client.post(path, base_url=BASE, data=body, headers=_headers(htmx))

    def follow(self, path: str, data: Mapping[str, Any] | None = None) -> str:
        """The page that a form leads to."""
        answer = self.send(path, data)
        assert answer.status_code == 303, (answer.status_code, answer.text[:2000])
        return self.get(answer.headers["Location"].partition("#")[0])


class Embedded:
    """The application over ``service``; ``people`` are by role."""

    def __init__(self, service: Service, settings: Settings, clock: Clock) -> None:
        self.service = service
        self.project = projects.create(service, name="Acme", support_email="help@acme.example")
        self.scene = Scene(self.project.id, "development")
        self.app = create_app(settings, service=service, clock=clock)
        self.people = {
            role: users.create(service.store, clock, email=f"{role}@example.com", password=PASSWORD, role=role)
            for role in ("owner", "developer", "member")
        }

    def processes(self) -> "tuple[Browser, Browser]":
        """An owner's browser, as each of two web processes of one service knows it."""
        settings, own, browsers = replace(self.service.settings, web=2), self.app, []
        for _ in range(2):
            self.app = create_app(settings, service=self.service, clock=self.service.clock)
            browsers.append(self.browser())
        self.app = own
        return browsers[0], browsers[1]

    def browser(self, role: str = "owner") -> Browser:
        """A new browser of that person."""
        client, store = self.app.test_client(), self.service.store
        person = self.people[role]
        token = sessions.start(store, self.service.clock, user_id=person.id, user_agent="", address="")
        client.set_cookie("patchbay_session", token, domain="localhost")
        return Browser(client)


def _headers(htmx: bool) -> dict[str, str]:
    return {"HX-Request": "true", "HX-Request-Type": "partial"} if htmx else {}
