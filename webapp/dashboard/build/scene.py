"""In which project and environment a browser works. Developers and owners choose; members stay where the dashboard is.

Every page is then drawn there. What leads back from elsewhere, such as a Connect Link, returns to where it began.
"""

from collections.abc import Mapping

from flask import Blueprint, abort, g, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import frame as build
from webapp.dashboard.build import known_projects
from webapp.dashboard.client.accounts import UserClient
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.gate import person, session_now, viewer_of
from webapp.dashboard.pages import go
from webapp.dashboard.return_paths import page_before
from webapp.dashboard.shell import ENVIRONMENTS
from webapp.errors import PatchbayError
from webapp.people import sessions

blueprint = Blueprint("scene", __name__)

_LISTS = ("/accounts", "/triggers", "/activity")


@blueprint.post("/scene")
def choose() -> AnyResponse:
    """Work in another environment or project from now on."""
    here = viewer().client
    environment = request.form.get("environment", here.environment)
    project_id = request.form.get("project", here.project_id)
    if not viewer().may_build or environment not in ENVIRONMENTS or not _is_project(project_id):
        abort(404)
    work_in(project_id, environment)
    return go(_list_of(page_before()))


def work_in(project_id: str, environment: str) -> None:
    """Let this browser work there, from this request on."""
    board, session = dashboard(), session_now()
    own = "" if project_id == board.client.project_id else project_id
    sessions.work_in(board.store, session, own, environment)
    g.person_session = sessions.find(board.store, board.clock, g.person_token)
    g.viewer = viewer_of(person(), g.person_session or session)


def parameters() -> Mapping[str, str]:
    """What an address carries that shall lead back to here."""
    return {"project": session_now().project_id, "in": viewer().client.environment} if viewer().may_build else {}


def return_to(account_id: str) -> None:
    """Work where the address says that the account is, if it is there: nobody is led elsewhere by a mere address."""
    project_id, environment = request.args.get("project", ""), request.args.get("in", "")
    if not viewer().may_build or environment not in ENVIRONMENTS or (project_id and not _is_project(project_id)):
        return
    client = dashboard().client.within(project_id, environment)
    try:
        UserClient(client, viewer().external_user_id).account(account_id)
    except PatchbayError:
        return
    if (project_id, environment) != (session_now().project_id, viewer().client.environment):
        work_in(project_id, environment)


def _is_project(project_id: str) -> bool:
    """Whether somebody may work in it: the dashboard's own always, others while they are there."""
    return project_id == dashboard().client.project_id or project_id in {each.id for each in known_projects.read_anew()}


def _list_of(path: str) -> str:
    """Return the list that the page at ``path`` belongs to, since what it shows is not in another project or
    environment; the page itself where it is the same everywhere."""
    plain = path.partition("?")[0]
    lists = (*_LISTS, *(f"/build/{noun}" for noun, page in build.PAGES.items() if page.of_project))
    return next((start for start in lists if plain.startswith(start + "/")), path or url_for("dashboard.apps.index"))
