"""The scene (project and environment) of a browser. Developers and owners choose it; members have the dashboard's.

Every page is rendered in it. Returns from elsewhere, such as a Connect Link, lead to the scene in which they began.
"""

from collections.abc import Mapping

from flask import Blueprint, abort, g, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build import menu, project_list
from webapp.dashboard.client.accounts import UserClient
from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.gate import person, session_now, viewer_of
from webapp.dashboard.pages import go
from webapp.dashboard.return_paths import page_before
from webapp.dashboard.shell import ENVIRONMENTS
from webapp.errors import PatchbayError
from webapp.people import roles, sessions

blueprint = Blueprint("scene", __name__)

_LISTS = ("/accounts", "/triggers", "/logs")


@blueprint.post("/scene")
def choose() -> AnyResponse:
    """Work in another environment or project from now on."""
    here = viewer().client
    environment = request.form.get("environment", here.environment)
    project_id = request.form.get("project", here.project_id)
    if not roles.may_choose_scene(viewer().role) or environment not in ENVIRONMENTS or not _is_project(project_id):
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
    """The parameters of an address that leads back to this scene."""
    return {"project": session_now().project_id, "in": viewer().client.environment} if viewer().may_build else {}


def return_to(account_id: str) -> None:
    """Switch to the account's scene in the address, if the account is there, so that a crafted address leads nowhere
    else.
    """
    project_id, environment = request.args.get("project", ""), request.args.get("in", "")
    if not roles.may_choose_scene(viewer().role) or environment not in ENVIRONMENTS:
        return
    if project_id and not _is_project(project_id):
        return
    client = dashboard().client.within(project_id, environment)
    try:
        UserClient(client, viewer().external_user_id).account(account_id)
    except PatchbayError:
        return
    if (project_id, environment) != (session_now().project_id, viewer().client.environment):
        work_in(project_id, environment)


def _is_project(project_id: str) -> bool:
    """Whether a person may work in it: always in the dashboard's own, in others while they exist."""
    return project_id == dashboard().client.project_id or project_id in {each.id for each in project_list.refresh()}


def _list_of(path: str) -> str:
    """The list that the page at ``path`` belongs to, since its item is not in another scene; the page itself if it
    is the same in all scenes.
    """
    plain = path.partition("?")[0]
    lists = (*_LISTS, *(f"/build/{noun}" for noun, page in menu.PAGES.items() if page.of_project))
    return next((start for start in lists if plain.startswith(start + "/")), path or url_for("dashboard.apps.index"))
