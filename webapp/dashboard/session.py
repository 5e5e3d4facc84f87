"""Signing in with e-mail and password, and signing out; and the first start, which makes the owner.

Sessions and passwords are kept by ``webapp.people``; the session's cookie and who may pass without it are
:mod:`.gate`'s matter.
"""

from collections.abc import Mapping

from flask import Blueprint, Response, flash, g, make_response, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import devices, gate
from webapp.dashboard.dashboard import dashboard, session_now
from webapp.dashboard.pages import go, safe_next
from webapp.errors import Forbidden, Invalid
from webapp.kit.translation import duration, gettext
from webapp.kit.translation import lazy as _
from webapp.people import attempts, emails, preferences, sessions, start_tokens, users
from webapp.people.users import User

blueprint = Blueprint("session", __name__)
first_start = Blueprint("start", __name__)

DISABLED = _("This login is disabled. Ask an owner of this installation to enable it.")
UNNAMED_PROXY = _(
    "This server cannot tell visitors apart: whoever runs it has to name its proxy in PATCHBAY_TRUSTED_PROXIES."
)
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
    source = devices.source(email)
    wait = attempts.admit(board.store, board.clock, source)
    if wait:
        return _form(next_url, email, _too_many(wait), 429, wait)
    person = users.authenticate(board.store, email=email, password=form.get("password", ""))
    if person is None:
        return _form(next_url, email, WRONG, 422)
    attempts.succeeded(board.store, source)
    if not person.enabled:
        return _form(next_url, email, DISABLED, 403)
    return _sign_in(person, next_url)


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


@first_start.get("/start", endpoint="page")
def start_page() -> AnyResponse:
    """The form, for whoever holds the token."""
    board, token = dashboard(), request.args.get("token", "")
    if users.any_user(board.store):
        return go(url_for("dashboard.session.page"))
    if not start_tokens.admits(board.store, board.clock, token):
        return _start_refused()
    return _start_form(token)


@first_start.post("/start", endpoint="create")
def create_owner() -> AnyResponse:
    """Create the owner and sign in."""
    board, form = dashboard(), request.form
    token, email = form.get("token", ""), form.get("email", "")
    try:
        owner = start_tokens.create_owner(
            board.store, board.clock, token=token, email=email, password=form.get("password", "")
        )
    except Forbidden:
        return _start_refused()
    except Invalid as error:
        return _start_form(token, email, {detail.field: detail.message for detail in error.details}, 422)
    signed_in = _sign_in(owner, url_for("dashboard.apps.index"))
    flash(gettext("Welcome. Your API key is in Settings, which shows it once."), "ok")
    return signed_in


def _sign_in(person: User, next_url: str) -> Response:
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
    devices.remember(response, person.email)
    theme = preferences.of_user(board.store, person.id).theme
    if theme != (gate.read_theme() or "auto"):
        gate.write_theme(response, theme)
    return response


def _too_many(wait: int) -> str:
    sentence = gettext("Too many tries. Wait {time}, then try again.").format(time=duration(wait))
    return f"{sentence} {UNNAMED_PROXY}" if devices.behind_unnamed_proxy() else sentence


def _form(next_url: str, email: str = "", error: str = "", code: int = 200, wait: int = 0) -> Response:
    first = not users.any_user(dashboard().store)
    page = render_template(
        "dashboard/session/page.html", email=email[: emails.MAX_EMAIL], error=error, next_url=next_url, first=first
    )
    response = make_response(page, code)
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response


def _start_form(token: str, email: str = "", errors: Mapping[str, str] | None = None, code: int = 200) -> Response:
    page = render_template("dashboard/start/page.html", token=token, email=email, errors=errors or {})
    return make_response(page, code)


def _start_refused() -> Response:
    page = render_template(
        "layouts/error.html",
        code=403,
        heading=gettext("This start link does not work"),
        message=gettext("It is used up, too old or not complete. Restart Patchbay and open the link that it prints."),
        action={"label": gettext("Sign in instead"), "url": url_for("dashboard.session.page")},
    )
    return make_response(page, 403)
