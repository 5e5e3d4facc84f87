"""The second step of a sign-in: a code of the authenticator app, or a recovery code, after the password.

The person who gave the password is kept in the form's signed cookie for ten minutes, and is not signed in.
"""

from flask import Blueprint, Response, make_response, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.pages import go
from webapp.dashboard.return_paths import safe_next
from webapp.dashboard.sign_in import devices
from webapp.dashboard.sign_in.outcome import sign_in, too_many
from webapp.kit.clock import MINUTE
from webapp.kit.translation import lazy as _
from webapp.people import sign_in_attempts, users
from webapp.people.users import User

blueprint = Blueprint("second_step", __name__)

WAITS = 10 * MINUTE
WRONG = _("That code is not right, or was used already. Type the one that your app shows now.")
_KEPT = "second_step"


def ask(person: User, next_url: str) -> AnyResponse:
    """Redirect a person who gave the right password to the page of the code."""
    session.clear()
    session[_KEPT] = [person.id, dashboard().clock(), next_url]
    return go(url_for("dashboard.second_step.page"))


@blueprint.get("/sign-in/code")
def page() -> AnyResponse:
    """The form, for a person who gave the password."""
    return _form() if _waiting() else go(url_for("dashboard.session.page"))


@blueprint.post("/sign-in/code")
def create() -> AnyResponse:
    """Check the code and sign in."""
    board, waiting = dashboard(), _waiting()
    if waiting is None:
        return go(url_for("dashboard.session.page"))
    person, next_url = waiting
    source = devices.source(person.email, "code")
    wait = sign_in_attempts.admit(board.store, board.clock, source)
    if wait:
        return _form(too_many(wait), 429, wait)
    if not board.totp.accepts(person, request.form.get("code", "")):
        return _form(WRONG, 422)
    sign_in_attempts.succeeded(board.store, source)
    return sign_in(person, next_url)


def _waiting() -> tuple[User, str] | None:
    """The person who gave the password a moment ago, and the page to return to."""
    board = dashboard()
    user_id, at, next_url = session.get(_KEPT) or ("", 0, "")
    person = users.by_id(board.store, user_id) if board.clock() - at < WAITS else None
    return (person, safe_next(next_url)) if person and person.enabled else None


def _form(error: str = "", code: int = 200, wait: int = 0) -> Response:
    response = make_response(render_template("dashboard/session/code.html", error=error), code)
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response
