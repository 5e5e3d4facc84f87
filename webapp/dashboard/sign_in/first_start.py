"""The first start: the holder of the printed link creates the owner's login, and names the product for end users.

The checklist follows.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import dashboard, viewer
from webapp.dashboard.pages import go
from webapp.dashboard.sign_in.outcome import refused, sign_in
from webapp.errors import Forbidden, Invalid
from webapp.kit.translation import gettext
from webapp.people import start_tokens, users
from webapp.people.start_tokens import ProjectNames

blueprint = Blueprint("start", __name__)


@blueprint.get("/start")
def page() -> AnyResponse:
    """The form, for a visitor with the token."""
    board, token = dashboard(), request.args.get("token", "")
    if users.any_user(board.store):
        return go(url_for("dashboard.session.page"))
    if not start_tokens.is_valid(board.store, board.clock, token):
        return _refused()
    return _form(token, names=board.first_project.names() if board.first_project else None)


@blueprint.post("/start")
def create() -> AnyResponse:
    """Create the owner, name the project and sign in."""
    board, form = dashboard(), request.form
    fields = {name: form.get(name, "") for name in ("token", "email", "password")}
    names = ProjectNames(form.get("app_name", ""), form.get("support_email", ""))
    project = board.first_project
    try:
        owner = start_tokens.create_owner(board.store, board.clock, **fields, project=project, names=names)
    except Forbidden:
        return _refused()
    except Invalid as error:
        errors = {detail.field: detail.message for detail in error.details}
        return _form(fields["token"], fields["email"], errors, names=names if project else None, code=422)
    return sign_in(owner, url_for("dashboard.checklist.page"))


@blueprint.get("/start/next")
def next_steps() -> AnyResponse:
    """Where the next steps stood before the checklist."""
    return go(url_for("dashboard.checklist.page" if viewer().may_build else "dashboard.apps.index"))


def _form(
    token: str,
    email: str = "",
    errors: Mapping[str, str] | None = None,
    *,
    names: ProjectNames | None,
    code: int = 200,
) -> Response:
    context: dict[str, Any] = {"token": token, "email": email, "names": names, "errors": errors or {}}
    return make_response(render_template("dashboard/start/page.html", **context), code)


def _refused() -> Response:
    return refused(
        gettext("This start link does not work"),
        gettext(
            "It was already used, has expired or is incomplete. Restart Patchbay and open the link that it prints."
        ),
    )
