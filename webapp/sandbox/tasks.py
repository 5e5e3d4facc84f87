"""Tasks, with the fields that all have and the custom fields of their project. Owns their table."""

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from webapp.kit import crypto
from webapp.kit.clock import Clock, iso
from webapp.sandbox.people import Person
from webapp.sandbox.projects import Field as CustomField
from webapp.sandbox.projects import Project
from webapp.sandbox.store import Page, Store, Window

Value = str | int | float | bool | None
SORTS = {"created": "created_at", "updated": "updated_at"}


class BadField(ValueError):
    """A custom field that is unknown, missing or of the wrong type. ``field`` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class NewTask(BaseModel):
    """The values of a new task."""

    model_config = ConfigDict(defer_build=True, strict=True)

    title: str = Field(min_length=1, max_length=200)
    notes: str = Field("", max_length=10_000)
    due: datetime.date | None = Field(None, strict=False)
    done: bool = False
    fields: dict[str, Value] = {}


class TaskChange(BaseModel):
    """Changes to a task; absent fields stay as they are. Custom fields are merged by key, and null removes one."""

    model_config = ConfigDict(defer_build=True, strict=True)

    title: str | None = Field(None, min_length=1, max_length=200)
    notes: str | None = Field(None, max_length=10_000)
    due: datetime.date | None = Field(None, strict=False)
    done: bool | None = None
    fields: dict[str, Value] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task. Times are epoch milliseconds; ``due`` is an ISO date."""

    id: str
    project_id: str
    person_id: str
    title: str
    notes: str
    due: str | None
    done: bool
    fields: dict[str, Value]
    created_at: int
    updated_at: int

    def to_json(self) -> dict[str, Any]:
        """The task, as the API and webhooks send it."""
        return {
            "id": self.id,
            "project_id": self.project_id,
            "created_by": self.person_id,
            "title": self.title,
            "notes": self.notes,
            "due": self.due,
            "done": self.done,
            "fields": self.fields,
            "created_at": iso(self.created_at),
            "updated_at": iso(self.updated_at),
        }


class Tasks:
    """The tasks in ``store``, as of ``clock``."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def create(self, project: Project, person: Person, new: NewTask) -> Task:
        """Add a task. Raises :class:`BadField`."""
        now = self._clock()
        task = Task(
            id=crypto.new_id("tsk"),
            project_id=project.id,
            person_id=person.id,
            title=new.title,
            notes=new.notes,
            due=new.due.isoformat() if new.due else None,
            done=new.done,
            fields=checked(project, new.fields),
            created_at=now,
            updated_at=now,
        )
        with self._store.write() as db:
            db.table("tasks").insert(_row(task))
        return task

    def change(self, task_id: str, project: Project, change: TaskChange) -> Task | None:
        """Change a task of ``project``. Returns None if it no longer exists. Raises :class:`BadField`."""
        values = change.model_dump(exclude_unset=True, mode="json")
        with self._store.write() as db:
            rows = list(db.query("SELECT * FROM tasks WHERE id = ?", [task_id]))
            if not rows:
                return None
            task = _task(rows[0])
            fields = {**task.fields, **(values.get("fields") or {})}
            kept = {key: value for key, value in fields.items() if value is not None}
            row = _row(task) | {key: values[key] for key in ("title", "notes", "done") if values.get(key) is not None}
            row |= {"due": values["due"]} if "due" in values else {}
            row |= {"fields": json.dumps(checked(project, kept)), "updated_at": max(self._clock(), task.updated_at)}
            db.table("tasks").update(task_id, row)
        return _task(row)

    def delete(self, task_id: str) -> bool:
        """Delete a task. Returns False if there was none."""
        with self._store.write() as db:
            return db.execute("DELETE FROM tasks WHERE id = ?", [task_id]).rowcount == 1

    def get(self, task_id: str) -> Task | None:
        """The task with this id, or None."""
        with self._store.read() as db:
            rows = list(db.query("SELECT * FROM tasks WHERE id = ?", [task_id]))
        return _task(rows[0]) if rows else None

    def search(
        self,
        window: Window,
        project_id: str | None = None,
        text: str = "",
        since: int | None = None,
        sort: str = "created",
    ) -> Page[Task]:
        """A page of tasks since ``since`` (epoch milliseconds), newest first by ``sort``, a key of :data:`SORTS`."""
        column = SORTS[sort]
        where = f"""FROM tasks WHERE (:project IS NULL OR project_id = :project)
            AND (:since IS NULL OR {column} >= :since) AND holds(title, :text)"""
        params: dict[str, Any] = {"project": project_id, "since": since, "text": text}
        span = {"limit": window.per_page, "offset": window.offset}
        page = f"SELECT * {where} ORDER BY {column} DESC, rowid DESC LIMIT :limit OFFSET :offset"
        with self._store.read() as db:
            rows = list(db.query(page, params | span))
            total = next(iter(db.query(f"SELECT count(*) AS n {where}", params)))["n"]
        return Page([_task(row) for row in rows], window, total)


def checked(project: Project, values: Mapping[str, Value]) -> dict[str, Value]:
    """``values``, if the project's custom fields allow them. Raises :class:`BadField` otherwise."""
    known = {field["key"]: field for field in project.fields}
    for key, value in values.items():
        if key not in known:
            raise BadField(f"fields.{key}", "This project has no such field.")
        if not _fits(known[key], value):
            raise BadField(f"fields.{key}", f"Give {_kind(known[key])}.")
    for key, field in known.items():
        if field["required"] and values.get(key) in (None, ""):
            raise BadField(f"fields.{key}", f"This project needs {field['label']}.")
    return dict(values)


def _fits(field: CustomField, value: Value) -> bool:
    match field["type"]:
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case "boolean":
            return isinstance(value, bool)
        case "choice":
            return value in field["choices"]
        case _:
            return isinstance(value, str) and len(value) <= 1000


def _kind(field: CustomField) -> str:
    words = {"number": "a number", "boolean": "true or false", "text": "a text of at most 1,000 characters"}
    return words.get(field["type"]) or f"one of {', '.join(field['choices'])}"


def _row(task: Task) -> dict[str, Any]:
    return {name: getattr(task, name) for name in Task.__slots__} | {"fields": json.dumps(task.fields)}


def _task(row: Mapping[str, Any]) -> Task:
    values = {name: row[name] for name in Task.__slots__}
    return Task(**values | {"fields": json.loads(row["fields"]), "done": bool(row["done"])})
