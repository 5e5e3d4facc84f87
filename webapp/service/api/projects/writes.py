"""Making, changing and removing projects, and their logos. A client that was made for one project has only that."""

from flask import Response

from webapp.errors import Detail, Forbidden, Invalid, TooLarge
from webapp.service.api.base import answers, bodies
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body
from webapp.service.domain.base import scopes
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import logos, projects
from webapp.service.domain.projects.projects import Project


class ProjectChange(Body):
    """What of a project is to change; what is left out stays."""

    name: str | None = None
    app_name: str | None = None
    support_email: str | None = None
    connect_require_key_auth_test: bool | None = None


class NewProject(ProjectChange):
    """A project. Its app's name is its own unless given, and keys are tested before they are kept."""

    name: str


class NewLogo(Body):
    """A logo as a base64 data URI: PNG, JPEG, GIF or WebP, at most 1 MiB. A form with a file ``logo`` will do too."""

    logo: str


def create(call: Call) -> Response:
    """Make a project."""
    if call.caller.project_id is not None:
        raise Forbidden("This OAuth client was made for one project; another client may make projects.")
    body = call.body(NewProject)
    made = projects.create(
        call.service,
        name=body.name,
        app_name=body.app_name or "",
        support_email=body.support_email or "",
        require_key_test=body.connect_require_key_auth_test is not False,
    )
    return answers.json(made.to_json())


def update(call: Call) -> Response:
    """Change a project."""
    found = _load(call)
    changes = {name: value for name, value in call.body(ProjectChange).model_dump().items() if value is not None}
    return answers.json(projects.update(call.service, found, **changes).to_json())


def remove(call: Call) -> Response:
    """Remove a project with its users, accounts, triggers, tokens and files."""
    removing.project(call.service, _load(call))
    return answers.empty()


def set_logo(call: Call) -> Response:
    """Set or replace a project's logo."""
    found = _load(call)
    logos.put(call.service, found.id, _image(call))
    return answers.json(found.to_json())


def show_logo(call: Call) -> Response:
    """A project's logo, for the pages that show it."""
    logo = logos.get(call.store, call.path["project_id"])
    return answers.image(logo.image, logo.media_type)


def _load(call: Call) -> Project:
    return projects.get(call.store, call.path["project_id"], only=call.caller.project_id)


def _image(call: Call) -> bytes:
    request = call.request
    if request.mimetype != "multipart/form-data":
        return logos.from_data_uri(call.body(NewLogo).logo)
    if request.content_length is None:
        raise Invalid("Send the header Content-Length with a form.")
    if request.content_length > bodies.MAX_BYTES:
        raise TooLarge
    sent = request.files.get("logo")
    if sent is None:
        raise Invalid("logo is not valid: It is missing.", [Detail("logo", "It is missing.")])
    return sent.stream.read(logos.MAX_BYTES + 1)


WRITE = (scopes.PROJECTS_WRITE,)
ALL, ONE = "/v1/connect/projects", "/v1/connect/projects/<project_id>"
OPERATIONS = (
    Operation("create_project", "POST", ALL, create, WRITE, connect=False, body=NewProject),
    Operation("update_project", "PATCH", ONE, update, WRITE, connect=False, body=ProjectChange),
    Operation("delete_project", "DELETE", ONE, remove, WRITE, connect=False),
    Operation("set_project_logo", "POST", f"{ONE}/logo", set_logo, WRITE, connect=False, body=NewLogo),
    Operation("get_project_logo", "GET", f"{ONE}/logo", show_logo, public=True),
)
