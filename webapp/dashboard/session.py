"""Signing in with e-mail and password, and signing out.

Sessions and passwords are kept by ``webapp.people``; the session's cookie and who may pass without it are
:mod:`.gate`'s matter.
"""

from flask import Blueprint, Response, flash, g, make_response, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import gate
from webapp.dashboard.dashboard import dashboard, session_now
from webapp.dashboard.pages import go, safe_next
from webapp.kit.translation import duration, gettext
from webapp.kit.translation import lazy as _
from webapp.people import attempts, preferences, sessions, users
from webapp.people.users import User

blueprint = Blueprint("session", __name__)

WRONG = _("The e-mail or the password is wrong. Check both and try again.")


@blueprint.get("/sign-in")
def page() -> AnyResponse:
    """The form; somebody who is signed in already is led on."""
    next_url = safe_next(request.args.get("next"))
    if g.person:
        return go(next_url)
    return _form(next_url)


@blueprint.post("/sign-in")
def create() -> AnyResponse:
    """Check e-mail and password and sign in."""
    board, form = dashboard(), request.form
    email, next_url = form.get("email", ""), safe_next(form.get("next"))
    address = request.remote_addr or ""
    wait = attempts.admit(board.store, board.clock, email=email, address=address)
    if wait:
        sentence = gettext("Too many tries. Wait {time}, then try again.").format(time=duration(wait))
        return _form(next_url, email, sentence, 429, wait)
    person = users.authenticate(board.store, email=email, password=form.get("password", ""))
    if person is None:
        return _form(next_url, email, WRONG, 422)
    attempts.succeeded(board.store, email=email, address=address)
    return sign_in(person, next_url)


@blueprint.post("/sign-out")
def end() -> AnyResponse:
    """End this session."""
    sessions.end(dashboard().store, user_id=session_now().user_id, session_id=session_now().id)
    g.person = g.person_session = None
    session.clear()
    flash(gettext("You are signed out."), "ok")
    response = make_response(go(url_for("dashboard.session.page")))
    gate.drop_token(response)
    return response


def sign_in(person: User, next_url: str) -> Response:
    """Start a session and lead to ``next_url``. Form tokens of before become void with the cookie's old content."""
    board = dashboard()
    token = sessions.start(
        board.store,
        board.clock,
        user_id=person.id,
        user_agent=request.headers.get("User-Agent", ""),
        address=request.remote_addr or "",
    )
    session.clear()
    response = make_response(go(next_url))
    gate.write_token(response, token)
    theme = preferences.of_user(board.store, person.id).theme
    if theme != (gate.read_theme() or "auto"):
        gate.write_theme(response, theme)
    return response


def _form(next_url: str, email: str = "", error: str = "", code: int = 200, wait: int = 0) -> Response:
    first = not users.any_user(dashboard().store)
    page = render_template(
        "dashboard/session/page.html", email=email[: users.MAX_EMAIL], error=error, next_url=next_url, first=first
    )
    response = make_response(page, code)
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response
