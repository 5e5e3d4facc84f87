"""Projects (contract "Projects"): those that a client sees, one of them, the info call of a frontend, creation,
change and removal, and logos. A client of one project sees only that one.
"""

from typing import Any

from flask import Response
from pydantic import Field

from webapp import audit, body_limits
from webapp.errors import Invalid, TooLarge
from webapp.kit.contrast import DEFAULT_HUE, MAX_HUE
from webapp.service.api.base.call import Call, answer, answer_image, answer_page, no_content
from webapp.service.api.base.models import (
    Answer,
    Body,
    Data,
    Extensions,
    Page,
    Paged,
    Query,
    RawContent,
    SearchWords,
    identifier,
)
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.instance import removal
from webapp.service.domain.projects import project_logos, projects, usage

PROJECTS = Group("Projects", "A project holds users, accounts and triggers, apart for development and production.")
operations = Operations(PROJECTS, read=(token_scopes.PROJECTS_READ,))
WRITE = (token_scopes.PROJECTS_WRITE,)
_AUDITED = ("account", "trigger", "client", "oauth_app")  # nouns, as fields of ProjectProgress are called
ALL, ONE = "/v1/connect/projects", "/v1/connect/projects/<project_id>"


class ProjectOptions(Query):
    """The optional parts of a project."""

    extensions: Extensions = False


class ProjectList(Paged, ProjectOptions):
    """Which projects."""

    q: SearchWords = None


class Project(Answer):
    """A project."""

    id: str = identifier("proj_8Fw3ZsKd")
    name: str = Field(examples=["Shop"])
    app_name: str = Field(examples=["Acme"])
    support_email: str = Field(examples=["help@example.com"])
    connect_require_key_auth_test: bool


class ExtendedProject(Project):
    """A project; the last two fields are there when `extensions` were asked for."""

    brand_hue: int = Field(0, description="The colour of its pages: degrees of OKLCH, from 0 to 360.")
    logo_url: str = Field("", description="Its logo; empty without one.")


class AppName(Answer):
    """An app by its two names."""

    id: str = Field(examples=["app_1K7bQx9dTz"])
    name_slug: str = Field(examples=["github"])


class ProjectInfo(Answer):
    """The apps for which a project has an OAuth client of its own."""

    apps: list[AppName]


class ProjectProgress(Answer):
    """What was done at least once in a project, in either environment. What was deleted since then counts."""

    account: bool = Field(description="An account was connected.")
    run: bool = Field(description="An action was run in the last 400 days.")
    trigger: bool = Field(description="A trigger was deployed.")
    client: bool = Field(description="An OAuth client was created.")
    call: bool = Field(description="Another OAuth client than yours has called the API.")
    oauth_app: bool = Field(description="An OAuth client of an app was added.")


class ProjectChange(Body):
    """The changes of a project; omitted fields are unchanged."""

    name: str | None = Field(None, description="What it is called.")
    app_name: str | None = Field(None, description="What people see when they connect an account.")
    support_email: str | None = Field(None, description="Where people may turn.")
    connect_require_key_auth_test: bool | None = Field(
        None, description="Whether keys are tested before an account is kept."
    )
    brand_hue: int | None = Field(
        None,
        description="The colour of its pages: degrees of OKLCH. Every one of them can be read.",
        json_schema_extra={"minimum": 0, "maximum": MAX_HUE},
    )


class NewProject(ProjectChange):
    """A new project. By default its app's name is its own, and keys are tested before they are stored."""

    name: str = Field(description="What it is called.")


class NewLogo(Body):
    """A logo as a base64 data URI: PNG, JPEG, GIF or WebP, at most 1 MiB. A form with a file ``logo`` will do too."""

    logo: str = Field(description="A base64 data URI: PNG, JPEG, GIF or WebP, at most 1 MiB.")


@operations.get(
    "/v1/connect/projects",
    answer=Page[ExtendedProject],
    connect=False,
    query=ProjectList,
    example=Example(query={"limit": "10"}),
)
def list_projects(call: Call) -> Response:
    """Projects that the client sees, oldest first."""
    query = call.query(ProjectList)
    rows = projects.page(call.store, query.window, q=query.q, only=call.caller.project_id)
    return answer_page(rows, lambda project: to_json(call, project, query))


@operations.get("/v1/connect/projects/<project_id>", answer=ExtendedProject, connect=False, query=ProjectOptions)
def get_project(call: Call) -> Response:
    """One project."""
    project = projects.get(call.store, call.path["project_id"], only=call.caller.project_id)
    return answer(to_json(call, project, call.query(ProjectOptions)))


@operations.get("P/projects/info", answer=ProjectInfo)
def get_project_info(call: Call) -> Response:
    """The apps for which the project has an OAuth client of its own."""
    slugs = oauth_apps.own_clients(call.store, call.scene.project_id)
    apps = [app for app in map(call.service.catalog.app, slugs) if app]
    return answer({"apps": [{"id": app.id, "name_slug": app.slug} for app in apps]})


@operations.get("P/progress", answer=Data[ProjectProgress], connect=False, extension=True)
def get_project_progress(call: Call) -> Response:
    """What was done at least once in the project."""
    project_id, caller = call.scene.project_id, call.caller
    done = dict.fromkeys(_AUDITED, False)
    for environment in projects.ENVIRONMENTS:
        place = audit.Filter(project_id, environment, workspace=caller.project_id is None)
        done |= dict.fromkeys(audit.nouns(call.store, place, [noun for noun in _AUDITED if not done[noun]]), True)
    ran = usage.has_any(call.store, project_id, "run")
    called = oauth_clients.is_any_used(call.store, without=caller.client_id, project_id=caller.project_id)
    return answer({"data": {**done, "run": ran, "call": called}})


def to_json(call: Call, project: projects.Project, options: ProjectOptions | ProjectList) -> dict[str, Any]:
    """The project as it was asked for."""
    if not options.extensions:
        return project.to_json()
    logo_url = project_logos.url(call.service, project.id)
    return {**project.to_json(), "brand_hue": project.brand_hue, "logo_url": logo_url}


@operations.post(
    ALL,
    answer=ExtendedProject,
    scopes=WRITE,
    connect=False,
    workspace=True,
    query=ProjectOptions,
    body=NewProject,
    example=Example(body={"name": "Shop", "support_email": "help@example.com"}),
)
def create_project(call: Call) -> Response:
    """Make a project."""
    body = call.body(NewProject)
    project = projects.create(
        call.service,
        name=body.name,
        app_name=body.app_name or "",
        support_email=body.support_email or "",
        require_key_test=body.connect_require_key_auth_test is not False,
        brand_hue=DEFAULT_HUE if body.brand_hue is None else body.brand_hue,
    )
    return answer(to_json(call, project, call.query(ProjectOptions)))


@operations.patch(
    ONE,
    answer=ExtendedProject,
    scopes=WRITE,
    connect=False,
    query=ProjectOptions,
    body=ProjectChange,
    example=Example(body={"app_name": "The Shop"}),
)
def update_project(call: Call) -> Response:
    """Change a project."""
    project = _load(call)
    changes = {name: value for name, value in call.body(ProjectChange).model_dump().items() if value is not None}
    changed = projects.update(call.service, project, **changes)
    return answer(to_json(call, changed, call.query(ProjectOptions)))


@operations.delete(ONE, scopes=WRITE, connect=False, example=Example(path={"project_id": "$OTHER_PROJECT_ID"}))
def delete_project(call: Call) -> Response:
    """Remove a project with its users, accounts, triggers, tokens and files."""
    removal.project(call.service, _load(call))
    return no_content()


@operations.post(
    f"{ONE}/logo",
    answer=ExtendedProject,
    scopes=WRITE,
    connect=False,
    query=ProjectOptions,
    body=NewLogo,
    example=Example(body={"logo": "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="}),
)
def set_project_logo(call: Call) -> Response:
    """Set or replace a project's logo."""
    project = _load(call)
    project_logos.put(call.service, project.id, _image(call))
    return answer(to_json(call, project, call.query(ProjectOptions)))


@operations.get(f"{ONE}/logo", answer=RawContent("The image.", "image/*"), public=True, scopes=(), extension=True)
def get_project_logo(call: Call) -> Response:
    """A project's logo, for the pages that show it."""
    logo = project_logos.get(call.store, call.path["project_id"])
    return answer_image(logo.image, logo.media_type)


def _load(call: Call) -> projects.Project:
    return projects.get(call.store, call.path["project_id"], only=call.caller.project_id)


def _image(call: Call) -> bytes:
    request = call.request
    if request.mimetype != "multipart/form-data":
        return project_logos.from_data_uri(call.body(NewLogo).logo)
    if request.content_length is None:
        raise Invalid("Send the header Content-Length with a form.")
    if request.content_length > body_limits.REQUEST:
        raise TooLarge
    sent = request.files.get("logo")
    if sent is None:
        raise Invalid.of("logo", "It is missing.")
    return sent.stream.read(project_logos.MAX_BYTES + 1)
