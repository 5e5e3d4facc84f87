"""The page of a password reset's link: a person who cannot sign in chooses another password."""

from flask import Blueprint, Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import cookies
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.pages import go
from webapp.dashboard.sign_in.outcome import refused
from webapp.errors import Forbidden, Invalid
from webapp.kit.translation import gettext
from webapp.people import password_resets

blueprint = Blueprint("new_password", __name__)


@blueprint.get("/new-password")
def page() -> AnyResponse:
    """The form, for a visitor with the token."""
    return _form(request.args.get("token", ""))


@blueprint.post("/new-password")
def save() -> AnyResponse:
    """Set the password and lead to signing in with it; every browser is signed out, this one too."""
    board, form = dashboard(), request.form
    token = form.get("token", "")
    try:
        password_resets.redeem(board.store, board.clock, token=token, password=form.get("password", ""))
    except Forbidden:
        return _refused()
    except Invalid as error:
        return _form(token, error.message, 422)
    flash(gettext("Your new password is set. Sign in with it."), "ok")
    response = make_response(go(url_for("dashboard.session.page")))
    cookies.drop_token(response)
    return response


def _form(token: str, error: str = "", code: int = 200) -> Response:
    board = dashboard()
    user = password_resets.user_of_token(board.store, board.clock, token)
    if user is None:
        return _refused()
    page = render_template("dashboard/session/new_password.html", token=token, email=user.email, error=error)
    return make_response(page, code)


def _refused() -> Response:
    return refused(
        gettext("This link does not work"),
        gettext("It was used already, is older than a day, or is not complete. Ask for a new one."),
    )
