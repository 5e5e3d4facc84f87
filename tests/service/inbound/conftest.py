"""A service with two sources of its own that listen at URLs, and the whole web application around it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.once import folders
from webapp.app import create_app
from webapp.kit.clock import FakeClock
from webapp.service.components.executor import Executor
from webapp.service.components.runner import Runner
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

HOOK = """
from webapp.service.components.authoring import ComponentError, Trigger, http_interface, service_db
class Hook(Trigger):
    name = "Hook"
    description = "Emits what it is told; a body that says fail makes it fail."
    http = http_interface()
    db = service_db()
    dedupe = "unique"
    def run(self, ctx):
        body = ctx.event["body"]
        if isinstance(body, dict) and body.get("fail"):
            ctx.emit({"never": "kept"})
            raise ComponentError("It was told to fail.")
        runs = ctx.db.get("runs", 0) + 1
        ctx.db.set("runs", runs)
        ctx.emit({"run": runs, "event": ctx.event}, id=ctx.event["headers"].get("x-id"), summary="hook")
"""
ANSWERING = """
from webapp.service.components.authoring import ComponentError, Trigger, http_interface
class Answering(Trigger):
    name = "Answering"
    description = "Answers by what it is told."
    http = http_interface(custom_response=True)
    def run(self, ctx):
        body = ctx.event["body"]
        if body.get("fail"):
            raise ComponentError("canary-inner-reason")
        ctx.emit(body)
        if "status" in body:
            ctx.respond(body["status"], body["text"], body["headers"])
"""


TOLD = """
name = "Told"
version = "1.0.0"
description = "Looks at a list, when it is told to."
id = "{$item.id}"
summary = "{$item.id}"

[props]
timer = { type = "$.interface.timer", default = { intervalSeconds = 3600 } }
http = { type = "$.interface.http" }
db = { type = "$.service.db" }

[poll]
url = "https://notes.example/notes"
items = "notes"

[push]
lasts = 3600
token = "{$event.body.key}"
challenge = { only_if = "{$event.query.try}", answer = "{$event.query.try}" }
subscribe = { method = "POST", url = "https://notes.example/hooks" }
unsubscribe = { method = "DELETE", url = "https://notes.example/hooks" }
"""


@pytest.fixture(scope="session")
def hooks_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the sources, the schema and one project, to be copied."""
    folder = tmp_path_factory.mktemp("hooks")
    for name, text in (("hook", HOOK), ("answering", ANSWERING)):
        (folder / "components" / name).mkdir(parents=True)
        (folder / "components" / name / "1.0.0.py").write_text(text)
    (folder / "components" / "told.toml").write_text(TOLD)
    service = open_service(Settings.from_env({}, data=folder), FakeClock())
    projects.create(service, name="Shop", support_email="help@shop.example")
    close_service(service)
    return folder


@pytest.fixture
def service(data: Path, clock: FakeClock, hooks_folder: Path, runner: Runner) -> Iterator[Service]:
    """A service over a copy of the folder."""
    folders.copy(hooks_folder, data)
    opened = open_service(Settings.from_env({}, data=data), clock)
    yield replace(opened, executor=Executor(runner))
    close_service(opened)


@pytest.fixture
def scene(service: Service) -> Scene:
    """The project's development environment."""
    project = projects.first(service.store)
    assert project is not None
    return Scene(project.id, "development")


@pytest.fixture
def web(service: Service) -> FlaskClient:
    """Somebody out there, without cookies or tokens."""
    return create_app(service.settings, service=service).test_client(use_cookies=False)
