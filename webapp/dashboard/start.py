"""First start: the link that was printed lets the first visitor create the owner, and nobody else."""

from collections.abc import Mapping

from flask import Blueprint, Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.pages import go
from webapp.dashboard.session import sign_in
from webapp.errors import Forbidden, Invalid
from webapp.kit.translation import gettext
from webapp.people import start_tokens, users

blueprint = Blueprint("start", __name__)


@blueprint.get("/start")
def page() -> AnyResponse:
    """The form, for whoever holds the token."""
    board, token = dashboard(), request.args.get("token", "")
    if users.any_user(board.store):
        return go(url_for("dashboard.session.page"))
    if not start_tokens.admits(board.store, board.clock, token):
        return _refused()
    return _form(token)


@blueprint.post("/start")
def create() -> AnyResponse:
    """Create the owner and sign in."""
    board, form = dashboard(), request.form
    token, email = form.get("token", ""), form.get("email", "")
    try:
        owner = start_tokens.create_owner(
            board.store, board.clock, token=token, email=email, password=form.get("password", "")
        )
    except Forbidden:
        return _refused()
    except Invalid as error:
        return _form(token, email, {detail.field: detail.message for detail in error.details}, 422)
    signed_in = sign_in(owner, url_for("dashboard.apps.index"))
    flash(gettext("Welcome. Your API key is in Settings, which shows it once."), "ok")
    return signed_in


def _form(token: str, email: str = "", errors: Mapping[str, str] | None = None, code: int = 200) -> Response:
    page = render_template("dashboard/start/page.html", token=token, email=email, errors=errors or {})
    return make_response(page, code)


def _refused() -> Response:
    page = render_template(
        "layouts/error.html",
        code=403,
        heading=gettext("This start link does not work"),
        message=gettext("It is used up, too old or not complete. Restart Patchbay and open the link that it prints."),
        action={"label": gettext("Sign in instead"), "url": url_for("dashboard.session.page")},
    )
    return make_response(page, 403)
