"""Tasks: what one holds and how it changes, the sentence for each field that does not fit, and how they are found."""

from pathlib import Path
from typing import Any

import pytest

from webapp.kit.clock import MINUTE, FakeClock
from webapp.sandbox.people import PEOPLE
from webapp.sandbox.projects import Project
from webapp.sandbox.store import Store, Window
from webapp.sandbox.tasks import BadField, NewTask, Task, TaskChange, Tasks, Value

HOUSE = Project(
    "prj_house",
    "House",
    (
        {"key": "room", "label": "Room", "type": "choice", "required": False, "choices": ["Hall", "Attic"]},
        {"key": "cost", "label": "Cost", "type": "number", "required": True, "choices": []},
        {"key": "supplier", "label": "Supplier", "type": "text", "required": False, "choices": []},
        {"key": "indoors", "label": "Indoors", "type": "boolean", "required": False, "choices": []},
    ),
)
GARDEN = Project("prj_garden", "Garden", ())


@pytest.fixture
def tasks(tmp_path: Path, clock: FakeClock) -> Tasks:
    return Tasks(Store(tmp_path), clock)


def paint(tasks: Tasks, **fields: Value) -> Task:
    return tasks.create(HOUSE, PEOPLE[1], new("Paint", due="2026-12-24", fields={"cost": 2.5, **fields}))


def new(title: str, **more: object) -> NewTask:
    return NewTask.model_validate({"title": title, **more})


def change(**values: object) -> TaskChange:
    return TaskChange.model_validate(values)


def test_a_task_is_kept_as_it_was_made(tasks: Tasks) -> None:
    task = paint(tasks, room="Hall", indoors=True)
    assert task.to_json() == {
        "id": task.id,
        "project_id": "prj_house",
        "created_by": "per_grace",
        "title": "Paint",
        "notes": "",
        "due": "2026-12-24",
        "done": False,
        "fields": {"cost": 2.5, "room": "Hall", "indoors": True},
        "created_at": "2027-01-15T08:00:00.000Z",
        "updated_at": "2027-01-15T08:00:00.000Z",
    }
    assert tasks.get(task.id) == task
    assert tasks.get("tsk_1") is None


def test_a_change_keeps_what_it_does_not_name(tasks: Tasks, clock: FakeClock) -> None:
    task = paint(tasks, room="Hall", supplier="Miller")
    clock.advance(MINUTE)
    fields = {"room": "Attic", "supplier": None}
    changed = tasks.change(task.id, HOUSE, change(title=None, due=None, done=True, fields=fields))
    assert changed == tasks.get(task.id)
    assert changed is not None
    assert (changed.title, changed.due, changed.done) == ("Paint", None, True)
    assert changed.fields == {"cost": 2.5, "room": "Attic"}
    assert changed.updated_at - changed.created_at == MINUTE


def test_a_task_that_is_gone_is_not_changed(tasks: Tasks) -> None:
    task = paint(tasks)
    assert [tasks.delete(task.id), tasks.delete(task.id)] == [True, False]
    assert tasks.change(task.id, HOUSE, change(done=True)) is None


@pytest.mark.parametrize(
    ("fields", "name", "sentence"),
    [
        ({"room": "Cellar"}, "fields.room", "Give one of Hall, Attic."),
        ({"cost": True}, "fields.cost", "Give a number."),
        ({"cost": float("inf")}, "fields.cost", "Give a number."),
        ({"supplier": "x" * 1001}, "fields.supplier", "Give a text of at most 1,000 characters."),
        ({"indoors": "yes"}, "fields.indoors", "Give true or false."),
        ({"colour": "red"}, "fields.colour", "This project has no such field."),
    ],
)
def test_a_field_that_does_not_fit_is_named(tasks: Tasks, fields: dict[str, Value], name: str, sentence: str) -> None:
    with pytest.raises(BadField) as refused:
        paint(tasks, **fields)
    assert (refused.value.field, str(refused.value)) == (name, sentence)
    assert tasks.search(Window()).total == 0


def test_a_field_that_its_project_needs_cannot_be_taken_away(tasks: Tasks) -> None:
    task = paint(tasks)
    with pytest.raises(BadField, match=r"^This project needs Cost\.$"):
        tasks.change(task.id, HOUSE, change(title="Sand", fields={"cost": None}))
    assert tasks.get(task.id) == task


def test_a_search_is_by_project_title_and_time(tasks: Tasks, clock: FakeClock) -> None:
    first = tasks.create(GARDEN, PEOPLE[0], new("Water the roses"))
    clock.advance(MINUTE)
    tasks.create(GARDEN, PEOPLE[0], new("Cut the hedge"))
    paint(tasks)

    def titles(**where: Any) -> list[str]:
        return [task.title for task in tasks.search(Window(1, 2), **where).items]

    assert titles() == ["Paint", "Cut the hedge"]
    assert titles(project_id="prj_garden") == ["Cut the hedge", "Water the roses"]
    assert titles(text="THE r") == ["Water the roses"]
    assert titles(project_id="prj_garden", since=clock.at) == ["Cut the hedge"]
    clock.advance(MINUTE)
    tasks.change(first.id, GARDEN, change(done=True))
    assert titles(sort="updated") == ["Water the roses", "Paint"]
    assert tasks.search(Window(2, 2)).total == 3
