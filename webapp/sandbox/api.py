"""The sandbox's JSON API: profile, projects with their custom fields, tasks and webhooks.

Lists have numbered pages, and every error has the shape that :func:`webapp.sandbox.callers.problem` makes. Who may call
is left to :mod:`webapp.sandbox.callers`, and the data to the modules that own the tables.
"""

from typing import TypeVar

from flask import Blueprint, Response, abort, jsonify, request
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webapp.kit.clock import parse_iso
from webapp.sandbox.callers import Caller, needs, problem
from webapp.sandbox.projects import Project
from webapp.sandbox.state import current
from webapp.sandbox.store import MAX_PAGE, MAX_PER_PAGE, Window
from webapp.sandbox.tasks import SORTS, BadField, NewTask, Task, TaskChange
from webapp.sandbox.webhooks import EVENTS, TooMany, allowed_url

blueprint = Blueprint("api", __name__, url_prefix="/api")
M = TypeVar("M", bound=BaseModel)
MAX_MS = 2**53


class NewWebhook(BaseModel):
    """The body of ``POST /api/webhooks``."""

    model_config = ConfigDict(defer_build=True)

    url: str = Field(max_length=2000)
    event: str
    project_id: str | None = None


@blueprint.get("/me")
@needs("profile")
def me(caller: Caller) -> ResponseReturnValue:
    """The person behind the token or key."""
    return jsonify(caller.person.to_json())


@blueprint.get("/projects")
@needs("tasks:read")
def list_projects(caller: Caller) -> ResponseReturnValue:
    """Projects by name; ``q`` searches in the name."""
    page = current().projects.search(request.args.get("q", ""), window())
    return jsonify(page.to_json(Project.to_json))


@blueprint.get("/projects/<project_id>")
@needs("tasks:read")
def get_project(caller: Caller, project_id: str) -> ResponseReturnValue:
    """One project."""
    return jsonify(_project_of(project_id).to_json())


@blueprint.get("/projects/<project_id>/fields")
@needs("tasks:read")
def list_fields(caller: Caller, project_id: str) -> ResponseReturnValue:
    """The custom fields of a project's tasks, which differ from project to project."""
    return jsonify(data=_project_of(project_id).fields)


@blueprint.get("/projects/<project_id>/tasks")
@needs("tasks:read")
def list_project_tasks(caller: Caller, project_id: str) -> ResponseReturnValue:
    """A project's tasks, newest first."""
    return _task_list(_project_of(project_id).id)


@blueprint.post("/projects/<project_id>/tasks")
@needs("tasks:write")
def create_task(caller: Caller, project_id: str) -> ResponseReturnValue:
    """Add a task to a project."""
    project, new = _project_of(project_id), _body_as(NewTask)
    try:
        task = current().tasks.create(project, caller.person, new)
    except BadField as error:
        abort(invalid(error.field, str(error)))
    current().webhooks.announce("task.created", task)
    return jsonify(task.to_json()), 201


@blueprint.get("/tasks")
@needs("tasks:read")
def list_tasks(caller: Caller) -> ResponseReturnValue:
    """Tasks of all projects since ``since``, newest first, or with ``sort=updated`` last changed first."""
    return _task_list(None)


@blueprint.get("/tasks/<task_id>")
@needs("tasks:read")
def get_task(caller: Caller, task_id: str) -> ResponseReturnValue:
    """One task."""
    return jsonify(_task_of(task_id).to_json())


@blueprint.patch("/tasks/<task_id>")
@needs("tasks:write")
def change_task(caller: Caller, task_id: str) -> ResponseReturnValue:
    """Change the fields in the body; custom fields are merged by key."""
    project, change = _project_of(_task_of(task_id).project_id), _body_as(TaskChange)
    try:
        task = current().tasks.change(task_id, project, change)
    except BadField as error:
        abort(invalid(error.field, str(error)))
    if task is None:
        abort(absent("task"))
    current().webhooks.announce("task.updated", task)
    return jsonify(task.to_json())


@blueprint.delete("/tasks/<task_id>")
@needs("tasks:write")
def delete_task(caller: Caller, task_id: str) -> ResponseReturnValue:
    """Remove a task."""
    if not current().tasks.delete(task_id):
        abort(absent("task"))
    return "", 204


@blueprint.get("/webhooks")
@needs("webhooks")
def list_webhooks(caller: Caller) -> ResponseReturnValue:
    """The person's webhooks, with the result of the last delivery to each."""
    return jsonify(data=[hook.to_json() for hook in current().webhooks.of(caller.person)])


@blueprint.post("/webhooks")
@needs("webhooks")
def create_webhook(caller: Caller) -> ResponseReturnValue:
    """Register a webhook for one event. Only this response contains the signing secret."""
    new, hooks = _body_as(NewWebhook), current().webhooks
    if new.event not in EVENTS:
        abort(invalid("event", f"Give one of {', '.join(EVENTS)}."))
    if not allowed_url(new.url):
        abort(invalid("url", "Give an http or https address on this machine, such as http://127.0.0.1:8000/."))
    if new.project_id is not None:
        _project_of(new.project_id)
    try:
        hook = hooks.register(caller.person, caller.grant_id, new.url, new.event, new.project_id)
    except TooMany as error:
        abort(problem(409, "too_many", str(error)))
    return jsonify(hook.to_json() | {"secret": hooks.secret_of(hook)}), 201


@blueprint.delete("/webhooks/<webhook_id>")
@needs("webhooks")
def delete_webhook(caller: Caller, webhook_id: str) -> ResponseReturnValue:
    """Remove one of the person's webhooks."""
    if not current().webhooks.delete(caller.person, webhook_id):
        abort(absent("webhook"))
    return "", 204


def _task_list(project_id: str | None) -> ResponseReturnValue:
    sort = request.args.get("sort", "created")
    if sort not in SORTS:
        abort(invalid("sort", f"Give one of {', '.join(SORTS)}."))
    page = current().tasks.search(window(), project_id, request.args.get("q", ""), since(), sort)
    return jsonify(page.to_json(Task.to_json))


def _project_of(project_id: str) -> Project:
    """The project with this id. Aborts with 404 if there is none."""
    return current().projects.get(project_id) or abort(absent("project"))


def _task_of(task_id: str) -> Task:
    """The task with this id. Aborts with 404 if there is none."""
    return current().tasks.get(task_id) or abort(absent("task"))


def absent(noun: str) -> Response:
    """The 404 response for an unknown id."""
    return problem(404, "not_found", f"There is no such {noun}.")


def invalid(field: str, message: str) -> Response:
    """The 400 response for an invalid parameter or field."""
    return problem(400, "invalid", message, details=[{"field": field, "message": message}])


def _body_as(model: type[M]) -> M:
    """The JSON body, validated as ``model``. Aborts with 400 and details if it is not valid."""
    try:
        return model.model_validate_json(request.get_data())
    except ValidationError as error:
        details = [
            {"field": ".".join(map(str, problem_["loc"])), "message": problem_["msg"]}
            for problem_ in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        abort(problem(400, "invalid", "The body is not valid; see details.", details=details))


def window() -> Window:
    """The page that the parameters ``page`` and ``per_page`` select."""
    return Window(_number("page", 1, MAX_PAGE), _number("per_page", 20, MAX_PER_PAGE))


def _number(name: str, default: int, most: int) -> int:
    text = request.args.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
        abort(invalid(name, f"Give a whole number from 1 to {most:,}."))
    return int(text)


def since() -> int | None:
    """The parameter ``since`` in epoch milliseconds; it may be those, or ISO 8601 with a time zone."""
    text = request.args.get("since")
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 15 and int(text) < MAX_MS:
        return int(text)
    try:
        return parse_iso(text)
    except (ValueError, OverflowError):
        abort(invalid("since", "Give an ISO 8601 time with a time zone, or epoch milliseconds."))
