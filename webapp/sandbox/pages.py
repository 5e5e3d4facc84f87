"""The sandbox's pages: home, tasks, accounts with their live grants, and keys."""

from collections.abc import Iterable
from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from pydantic import ValidationError

from webapp.sandbox.clients import SCOPES, in_words
from webapp.sandbox.grants import BEHAVIOURS
from webapp.sandbox.people import PEOPLE, find_person
from webapp.sandbox.projects import Field, Project
from webapp.sandbox.state import current
from webapp.sandbox.store import MAX_PAGE, Window
from webapp.sandbox.tasks import BadField, NewTask, TaskChange, Value

blueprint = Blueprint("pages", __name__)


@blueprint.get("/")
def home() -> ResponseReturnValue:
    """The home page, which explains the sandbox."""
    return render_template("sandbox/home.html", scopes=SCOPES, public_url=current().public_url)


@blueprint.get("/icon.svg")
def icon() -> ResponseReturnValue:
    """The logo, for the browser tab."""
    return render_template("sandbox/mark.svg"), {"Content-Type": "image/svg+xml"}


@blueprint.get("/tasks")
def tasks() -> ResponseReturnValue:
    """The tasks of one or all projects, newest first, with a form to add one."""
    return _tasks_page()


@blueprint.post("/tasks")
def create_task() -> ResponseReturnValue:
    """Add a task from the form and notify the webhooks."""
    project = current().projects.get(request.form.get("project", ""))
    person = find_person(request.form.get("person", ""))
    if project is None or person is None:
        return _tasks_page("Pick a project and a person."), 422
    try:
        task = current().tasks.create(project, person, _new_task(project))
    except BadField as error:
        label = next((field["label"] for field in project.fields if error.field == f"fields.{field['key']}"), "A field")
        return _tasks_page(f"{label}: {error}"), 422
    except ValidationError:
        return _tasks_page("Give the task a title of at most 200 characters, and a real date."), 422
    current().webhooks.announce("task.created", task)
    return redirect(url_for("pages.tasks", project=project.id), 303)


@blueprint.post("/tasks/<task_id>/done")
def finish_task(task_id: str) -> ResponseReturnValue:
    """Mark a task as done, or as open again, and notify the webhooks."""
    task = current().tasks.get(task_id) or abort(404)
    project = current().projects.get(task.project_id) or abort(404)
    changed = current().tasks.change(task_id, project, TaskChange.model_validate({"done": not task.done})) or abort(404)
    current().webhooks.announce("task.updated", changed)
    shown = project.id if request.form.get("back") == "project" else None
    return redirect(url_for("pages.tasks", project=shown), 303)


@blueprint.get("/accounts")
def accounts() -> ResponseReturnValue:
    """The people, each with the applications that have access."""
    client = current().client
    live = current().grants.live(client.client_id)
    return render_template(
        "sandbox/accounts.html",
        people=PEOPLE,
        client_name=client.name,
        grants={person.id: [grant for grant in live if grant.person == person] for person in PEOPLE},
        behaviours=BEHAVIOURS.values(),
        in_words=in_words,
    )


@blueprint.post("/accounts/<grant_id>/revoke")
def revoke(grant_id: str) -> ResponseReturnValue:
    """Revoke an application's access, as a person would at a real provider."""
    current().grants.revoke(grant_id, "The person revoked it.")
    return redirect(url_for("pages.accounts"), 303)


@blueprint.post("/accounts/<grant_id>/behaviour")
def set_behaviour(grant_id: str) -> ResponseReturnValue:
    """Change the behaviour of a connected account."""
    behaviour = BEHAVIOURS.get(request.form.get("behaviour", "")) or abort(400)
    current().grants.set_behaviour(grant_id, behaviour)
    return redirect(url_for("pages.accounts"), 303)


@blueprint.get("/keys")
def keys() -> ResponseReturnValue:
    """The working keys, a disabled one and a mistyped one."""
    keys = current().keys
    mistyped = keys.working[0].secret[:-1] + "x"  # no hex digit, so never a real key
    return render_template("sandbox/keys.html", keys=keys, mistyped=mistyped)


def _tasks_page(problem: str | None = None) -> str:
    sandbox, project_id = current(), request.values.get("project", "")
    project = sandbox.projects.get(project_id)
    number = request.args.get("page", "1")
    page = int(number) if number.isascii() and number.isdigit() and len(number) <= 6 else 1
    window = Window(min(max(page, 1), MAX_PAGE))
    projects = sandbox.projects.all()
    return render_template(
        "sandbox/tasks.html",
        page=sandbox.tasks.search(window, project.id if project else None),
        project=project,
        projects=projects,
        names={project.id: project.name for project in projects},
        people=PEOPLE,
        person_names={person.id: person.name for person in PEOPLE},
        problem=problem,
    )


def _new_task(project: Project) -> NewTask:
    form = request.form
    fields = dict(_values(project.fields))
    values: dict[str, Any] = {"title": form.get("title", "").strip(), "notes": form.get("notes", "").strip()}
    return NewTask.model_validate(values | {"due": form.get("due") or None, "fields": fields})


def _values(fields: Iterable[Field]) -> Iterable[tuple[str, Value]]:
    """The custom fields of the form, in the types that the API accepts, without empty ones."""
    for field in fields:
        text = request.form.get(f"field.{field['key']}", "").strip()
        if field["type"] == "boolean":
            yield field["key"], text == "on"
        elif field["type"] == "number" and text:
            yield field["key"], _number(text)
        elif text:
            yield field["key"], text


def _number(text: str) -> Value:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text  # the check of the field refuses it
