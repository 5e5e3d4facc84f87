"""The sandbox's triggers against the sandbox itself."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.sandbox.conftest import Served
from tests.service.catalog.components.action_harness import ActionHarness, component_file, grant
from tests.service.catalog.components.test_sandbox import Action, action, served
from tests.service.catalog.components.trigger_harness import TriggerHarness, logged
from webapp.sandbox.people import find_person
from webapp.sandbox.tasks import NewTask
from webapp.service.components.executor import Executor

__all__ = ["action", "served"]  # fixtures

OpenTrigger = Callable[..., TriggerHarness]
PROJECT, OTHER, MANY = "prj_001", "prj_006", "prj_011"


@pytest.fixture(scope="module")
def watching(served: Served, runner: Executor) -> OpenTrigger:
    """A trigger by its name, with an account that may do everything."""
    account = grant("sandbox", served.url, {"oauth_access_token": served.connect()["access_token"]})

    def made(name: str, **props: Any) -> TriggerHarness:
        path = component_file("sandbox", "triggers", name)
        return TriggerHarness(
            runner, path, props, {"account": account}, account.allowed_hosts, f"{served.url}/receiver/{name}"
        )

    return made


@pytest.fixture
def create(action: Action, served: Served) -> Callable[..., dict[str, Any]]:
    """Creates a task, some time after the last."""
    component: ActionHarness = action("create-task")

    def made(title: str, project: str = PROJECT, later_ms: int = 1000) -> dict[str, Any]:
        served.clock.advance(later_ms)
        task, _ = component.ret(project_id=project, title=title)
        assert isinstance(task, dict)
        return task

    return made


def test_new_tasks_are_emitted_once(watching: OpenTrigger, create: Callable[..., dict[str, Any]]) -> None:
    for number in range(7):
        create(f"Old {number}")
    harness = watching("new-task", project_id=PROJECT)
    assert [one.summary for one in harness.deploy()] == [f"Old {number}" for number in range(2, 7)]
    assert harness.tick() == []

    first, second = create("First"), create("Second", later_ms=0)  # at the same millisecond
    create("Elsewhere", project=OTHER)
    events = harness.tick()
    assert [(one.event, one.id) for one in events] == [(first, first["id"]), (second, second["id"])]
    third = create("Third", later_ms=0)
    assert [one.id for one in harness.tick()] == [third["id"]]
    assert harness.tick() == []

    create("Fourth")
    assert len(harness.tick()) == 1
    harness.props["project_id"] = None
    create("Elsewhere too", project=OTHER)
    assert [one.summary for one in harness.tick()] == ["Elsewhere too"]


def test_many_tasks_come_all(served: Served, watching: OpenTrigger) -> None:
    harness = watching("new-task", project_id=MANY)
    assert harness.deploy() == []
    project, ada = served.sandbox.projects.get(MANY), find_person("per_ada")
    assert project is not None and ada is not None
    tasks = [NewTask(title=str(number), notes="", due=None) for number in range(101)]
    created = [served.sandbox.tasks.create(project, ada, task) for task in tasks]
    assert [one.id for one in harness.tick()] == [one.id for one in created]


def test_projects_are_offered(watching: OpenTrigger, runner: Executor) -> None:
    harness = watching("new-task")
    asked = harness.call("declare").value["configurable_props"]
    assert [one["name"] for one in asked] == ["account", "project_id", "timer", "db"]
    assert asked[1]["optional"]


def test_a_changed_task_is_reported_by_the_webhook_until_it_is_removed(
    served: Served, watching: OpenTrigger, action: Action, create: Callable[..., dict[str, Any]]
) -> None:
    harness = watching("task-updated", project_id=PROJECT)
    harness.activate()
    task = create("Ring")
    action("update-task").ret(project_id=PROJECT, task_id=task["id"], done=True)
    came = received(served, 1)[0]

    reply = harness.receive(came.body.decode(), dict(came.headers))
    (emitted,) = reply.events
    assert (emitted.event["id"], emitted.event["done"], emitted.summary) == (task["id"], True, "Ring")
    assert emitted.id == json.loads(came.body)["id"]

    told = "A request was ignored: its signature is not the one of the sandbox, or the secret has changed."
    for body, headers in (
        (came.body.decode().replace("Ring", "Rang"), dict(came.headers)),
        (came.body.decode(), {"x-sandbox-event": "task.updated"}),
    ):
        reply = harness.receive(body, headers)
        assert (reply.events, logged(reply)) == ((), told)

    harness.deactivate()
    action("update-task").ret(project_id=PROJECT, task_id=task["id"], done=False)
    time.sleep(0.05)
    assert len(received(served, 1)) == 1
    harness.deactivate()  # again changes nothing


def received(served: Served, count: int) -> list[Any]:
    deadline = time.monotonic() + 5
    while len(found := served.sandbox.receiver.requests("task-updated")) < count:
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
    return list(found)
