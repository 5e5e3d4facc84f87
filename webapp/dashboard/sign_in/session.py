"""Signing in with e-mail and password, and signing out; and the first start, which makes the owner.

Sessions and passwords are kept by ``webapp.people``; the session's cookie and who may pass without it are
:mod:`webapp.dashboard.gate`'s matter.
"""

from collections.abc import Mapping

from flask import Blueprint, Response, flash, g, make_response, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import cookies
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.gate import session_now
from webapp.dashboard.pages import go, safe_next
from webapp.dashboard.sign_in import challenge, devices, second_step
from webapp.dashboard.sign_in.success import DISABLED, sign_in, too_many
from webapp.errors import Forbidden, Invalid
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _
from webapp.people import attempts, emails, sessions, start_tokens, totp, users

blueprint = Blueprint("session", __name__)
first_start = Blueprint("start", __name__)

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
        return _form(next_url, email, too_many(wait), 429, wait)
    person = users.authenticate(board.store, email=email, password=form.get("password", ""))
    if person is None:
        return _form(next_url, email, WRONG, 422)
    attempts.succeeded(board.store, source)
    if not person.enabled:
        return _form(next_url, email, DISABLED, 403)
    return second_step.ask(person, next_url) if totp.is_on(board.store, person.id) else sign_in(person, next_url)


@blueprint.post("/sign-out")
def end() -> AnyResponse:
    """End this session."""
    sessions.end(dashboard().store, user_id=session_now().user_id, session_id=session_now().id)
    g.person = g.person_session = None
    session.clear()
    flash(gettext("You are signed out."), "ok")
    response = make_response(go(url_for("dashboard.session.page")))
    cookies.drop_token(response)
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
    signed_in = sign_in(owner, url_for("dashboard.apps.index"))
    flash(gettext("Welcome. Your API key is in Settings, which shows it once."), "ok")
    return signed_in


def _form(next_url: str, email: str = "", error: str = "", code: int = 200, wait: int = 0) -> Response:
    first = not users.any_user(dashboard().store)
    page = render_template(
        "dashboard/session/page.html",
        email=email[: emails.MAX_EMAIL],
        error=error,
        next_url=next_url,
        first=first,
        passkeys=challenge.relying_party() is not None,
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
