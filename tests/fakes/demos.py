"""A demo installation without a story: its mark, its visitor's account, and a browser that keeps no cookie."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from tests.fakes.user_data import plant_account
from webapp import demo
from webapp.app import create_app
from webapp.kit.clock import Clock
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

TOKEN = "canary-access-token-of-the-visitor"


@dataclass
class Demo:
    """An installation, marked as a demo or not."""

    service: Service
    app: Flask
    scene: Scene

    @property
    def links(self) -> demo.Links:
        """Links that are signed with its key, whether or not it has any."""
        return demo.Links(self.service.store, self.service.clock, self.service.keys.derive(demo.KEY))

    def ask(self, path: str, method: str = "GET", **more: Any) -> TestResponse:
        """An answer to somebody without a cookie."""
        client = self.app.test_client(use_cookies=False)
        return client.open(path, method=method, base_url=self.service.settings.public_url, **more)

    def opened(self, component: str = "sandbox-find-tasks") -> str:
        """The address of the page to which a new link leads."""
        answer = self.ask(self.links.create(component))
        assert answer.status_code == 303, answer.text
        return str(answer.headers["Location"])


@contextmanager
def demo_over(settings: Settings, clock: Clock, *, marked: bool = True) -> Iterator[Demo]:
    """An installation over ``settings``."""
    service = open_service(settings, clock)
    try:
        project = projects.create(service, name="Fernhollow")
        scene = Scene(project.id, "development")
        if marked:
            with service.store.write() as tx:
                demo.mark(tx, "Fernhollow", clock())
        plant_account(
            service, scene, demo.VISITOR, "sandbox",
            {"oauth_access_token": TOKEN, "oauth_refresh_token": f"{TOKEN}-refresh"},
            oauth_app_id=oauth_apps.SANDBOX_ID, authorized_scopes=("tasks:read", "tasks:write"),
        )  # fmt: skip
        yield Demo(service, create_app(settings, clock=clock, service=service), scene)
    finally:
        close_service(service)
