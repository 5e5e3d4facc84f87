"""What the sandbox's components share: projects and tasks to choose from, lists of tasks, a project's fields."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from webapp.service.components.authoring import ComponentError, Context, Option, Options, Prop, boolean, integer, string

PER_PAGE = 50
MOST_PER_PAGE, MOST_PAGES = 100, 50
FIELD = "field_"


def find_projects(ctx: Context) -> Options:
    """The projects whose name holds the query, page by page."""
    params = {"q": ctx.query, "page": ctx.page + 1, "per_page": PER_PAGE}
    projects = ctx.http.get("/api/projects", params=params).json()["data"]
    return Options([Option(project["name"], project["id"]) for project in projects])


def find_tasks(ctx: Context) -> Options:
    """The tasks of the chosen project whose title holds the query, newest first."""
    params = {"q": ctx.query, "page": ctx.page + 1, "per_page": PER_PAGE}
    tasks = ctx.http.get(in_project(ctx.props.project_id, "tasks"), params=params).json()["data"]
    return Options([Option(task["title"], task["id"]) for task in tasks])


project = string(label="Project", options=find_projects, use_query=True, with_label=True)
task = string(label="Task", options=find_tasks, use_query=True, with_label=True)
title = string(label="Title", description="At most 200 characters.")
notes = string(label="Notes", optional=True)
due = string(label="Due", description="A date such as 2030-01-31.", optional=True)
done = boolean(label="Done", optional=True)


def in_project(project_id: str | None, *rest: str) -> str:
    """The address of a project, or of something below it. Raises :class:`ComponentError` where none is chosen."""
    if not project_id:
        raise ComponentError("No project is chosen yet. Choose one first.")
    return "/".join(("/api/projects", quote(project_id, safe=""), *rest))


def of_task(task_id: str) -> str:
    """The address of a task."""
    return f"/api/tasks/{quote(task_id, safe='')}"


def _listed_tasks(ctx: Context, **params: Any) -> list[dict[str, Any]]:
    """One page of the tasks of the chosen project, or of all when none is chosen, the newest first."""
    place = in_project(ctx.props.project_id, "tasks") if ctx.props.project_id else "/api/tasks"
    tasks: list[dict[str, Any]] = ctx.http.get(place, params=params).json()["data"]
    return tasks


def all_tasks(ctx: Context, **params: Any) -> list[dict[str, Any]]:
    """All pages of :func:`_listed_tasks`. One that is created meanwhile may make another stand in it twice."""
    tasks: list[dict[str, Any]] = []
    for page in range(1, MOST_PAGES + 1):
        rows = _listed_tasks(ctx, per_page=MOST_PER_PAGE, page=page, **params)
        tasks += rows
        if len(rows) < MOST_PER_PAGE:
            break
    return tasks


def field_props(ctx: Context, project_id: str, values: Mapping[str, Any] | None = None) -> dict[str, Prop]:
    """One prop for each custom field of a project. With the ``values`` of a task, none has to be given."""
    fields = ctx.http.get(in_project(project_id, "fields")).json()["data"]
    return {FIELD + field["key"]: _field(field, values) for field in fields}


def field_values(ctx: Context) -> dict[str, Any]:
    """What was given for the props of :func:`field_props`, by the keys of the fields."""
    values = {name.removeprefix(FIELD): value for name, value in ctx.extra.items() if name.startswith(FIELD)}
    return {key: value for key, value in values.items() if value is not None}


def _field(field: Mapping[str, Any], values: Mapping[str, Any] | None) -> Prop:
    label, optional = field["label"], not field["required"] or values is not None
    prop = {
        "boolean": boolean(label=label, optional=optional),
        "number": integer(label=label, optional=optional),
        "choice": string(label=label, optional=optional, options=field["choices"]),
    }.get(field["type"], string(label=label, optional=optional))
    value = (values or {}).get(field["key"])
    return prop.but(default=None if isinstance(value, float) else value)  # an integer prop may not begin with 1.5
