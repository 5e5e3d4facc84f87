"""The JSON API: profile, projects with their fields, tasks, webhooks. Lists come in numbered pages."""

from flask import Blueprint, abort, jsonify, request
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict, Field

from webapp.sandbox import inputs
from webapp.sandbox.callers import Caller, needs, problem
from webapp.sandbox.projects import Project
from webapp.sandbox.state import current
from webapp.sandbox.tasks import SORTS, BadField, NewTask, Task, TaskChange
from webapp.sandbox.webhooks import EVENTS, TooMany, allowed_url

blueprint = Blueprint("api", __name__, url_prefix="/api")


class NewWebhook(BaseModel):
    """What a webhook is made from."""

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
    page = current().projects.search(request.args.get("q", ""), inputs.window())
    return jsonify(page.to_json(Project.to_json))


@blueprint.get("/projects/<project_id>")
@needs("tasks:read")
def get_project(caller: Caller, project_id: str) -> ResponseReturnValue:
    """One project."""
    return jsonify(inputs.project_of(project_id).to_json())


@blueprint.get("/projects/<project_id>/fields")
@needs("tasks:read")
def list_fields(caller: Caller, project_id: str) -> ResponseReturnValue:
    """The custom fields of a project's tasks; every project has others."""
    return jsonify(data=inputs.project_of(project_id).fields)


@blueprint.get("/projects/<project_id>/tasks")
@needs("tasks:read")
def list_project_tasks(caller: Caller, project_id: str) -> ResponseReturnValue:
    """A project's tasks, newest first."""
    return _task_list(inputs.project_of(project_id).id)


@blueprint.post("/projects/<project_id>/tasks")
@needs("tasks:write")
def create_task(caller: Caller, project_id: str) -> ResponseReturnValue:
    """Add a task to a project."""
    project, new = inputs.project_of(project_id), inputs.body_as(NewTask)
    try:
        task = current().tasks.create(project, caller.person, new)
    except BadField as error:
        abort(inputs.invalid(error.field, str(error)))
    current().webhooks.announce("task.created", task)
    return jsonify(task.to_json()), 201


@blueprint.get("/tasks")
@needs("tasks:read")
def list_tasks(caller: Caller) -> ResponseReturnValue:
    """Tasks of all projects, newest first, from ``since`` on; ``sort=updated`` goes by the last change."""
    return _task_list(None)


@blueprint.get("/tasks/<task_id>")
@needs("tasks:read")
def get_task(caller: Caller, task_id: str) -> ResponseReturnValue:
    """One task."""
    return jsonify(inputs.task_of(task_id).to_json())


@blueprint.patch("/tasks/<task_id>")
@needs("tasks:write")
def change_task(caller: Caller, task_id: str) -> ResponseReturnValue:
    """Change what the body names; custom fields merge by key."""
    project, change = inputs.project_of(inputs.task_of(task_id).project_id), inputs.body_as(TaskChange)
    try:
        task = current().tasks.change(task_id, project, change)
    except BadField as error:
        abort(inputs.invalid(error.field, str(error)))
    if task is None:
        abort(inputs.absent("task"))
    current().webhooks.announce("task.updated", task)
    return jsonify(task.to_json())


@blueprint.delete("/tasks/<task_id>")
@needs("tasks:write")
def delete_task(caller: Caller, task_id: str) -> ResponseReturnValue:
    """Remove a task."""
    if not current().tasks.delete(task_id):
        abort(inputs.absent("task"))
    return "", 204


@blueprint.get("/webhooks")
@needs("webhooks")
def list_webhooks(caller: Caller) -> ResponseReturnValue:
    """The person's webhooks, with how the last post to each went."""
    return jsonify(data=[hook.to_json() for hook in current().webhooks.of(caller.person)])


@blueprint.post("/webhooks")
@needs("webhooks")
def create_webhook(caller: Caller) -> ResponseReturnValue:
    """Register an address for one event. The signing secret stands in this answer only."""
    new, hooks = inputs.body_as(NewWebhook), current().webhooks
    if new.event not in EVENTS:
        abort(inputs.invalid("event", f"Give one of {', '.join(EVENTS)}."))
    if not allowed_url(new.url):
        abort(inputs.invalid("url", "Give an http or https address on this machine, such as http://127.0.0.1:8000/."))
    if new.project_id is not None:
        inputs.project_of(new.project_id)
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
        abort(inputs.absent("webhook"))
    return "", 204


def _task_list(project_id: str | None) -> ResponseReturnValue:
    sort = request.args.get("sort", "created")
    if sort not in SORTS:
        abort(inputs.invalid("sort", f"Give one of {', '.join(SORTS)}."))
    page = current().tasks.search(inputs.window(), project_id, request.args.get("q", ""), inputs.since(), sort)
    return jsonify(page.to_json(Task.to_json))
