"""Todoist's actions, against a fake written from https://developer.todoist.com/api/v1/."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer

TASKS = [{"id": "t1", "content": "Milk"}, {"id": "t2", "content": "Bread"}]


def paged(*pages: list[dict[str, Any]]) -> Callable[[Asked], Any]:
    def answer(asked: Asked) -> Any:
        at = int(asked.query.get("cursor", "0"))
        return {"results": pages[at], "next_cursor": str(at + 1) if at + 1 < len(pages) else None}

    return answer


@pytest.fixture
def todoist(desk_of: Callable[..., AppHarness]) -> AppHarness:
    made = desk_of("todoist", oauth_access_token="td1")
    made.on("GET /projects", paged([{"id": "p1", "name": "Home"}], [{"id": "p2", "name": "Work"}]))
    made.on("GET /tasks", paged(TASKS[:1], TASKS[1:]))
    return made


def test_projects_come_page_by_page(todoist: AppHarness) -> None:
    first = todoist.options("create-task", "project_id")
    assert first == {"found": {"Home": "p1"}, "context": {"cursor": "1"}}
    assert todoist.options("create-task", "project_id", page=1, previous={"cursor": "1"})["found"] == {"Work": "p2"}
    assert todoist.options("create-task", "project_id", page=2)["found"] == {}
    assert todoist.options("create-task", "project_id", query="work")["found"] == {"Work": "p2"}


def test_a_task_is_created(todoist: AppHarness) -> None:
    todoist.on("POST /tasks", lambda asked: {"id": "t9", **asked.json})
    todoist.run("create-task", content="Milk", description="Oat", due_string="tomorrow", priority=4, labels=["shop"])
    assert todoist.last.json == {
        "content": "Milk", "description": "Oat", "due_string": "tomorrow", "priority": 4, "labels": ["shop"]
    }  # fmt: skip
    assert todoist.run("create-task", content="Milk").exports["$summary"] == "Created the task Milk"
    assert todoist.last.json == {"content": "Milk"}


def test_tasks_are_listed(todoist: AppHarness) -> None:
    assert todoist.run("list-tasks", project_id="p1").value == TASKS
    assert todoist.provider.asked[0].query == {"project_id": "p1", "limit": "100"}
    assert todoist.run("list-tasks", most=1).value == TASKS[:1]


def test_tasks_are_found_by_a_filter(todoist: AppHarness) -> None:
    todoist.on("GET /tasks/filter", paged(TASKS))
    assert todoist.run("find-tasks", query="today | overdue").exports["$summary"] == "Found 2 tasks"
    assert todoist.last.query["query"] == "today | overdue"


def test_a_task_is_completed(todoist: AppHarness) -> None:
    assert todoist.options("complete-task", "task_id", query="bread")["found"] == {"Bread": "t2"}
    todoist.on("POST /tasks/t2/close", FakeAnswer(204))
    reply = todoist.run("complete-task", {"task_id": "Bread"}, task_id="t2")
    assert (reply.value, reply.exports["$summary"]) == ({"id": "t2", "completed": True}, "Completed Bread")
