"""Sign-in with e-mail and password, and sign-out.

``webapp.people`` keeps sessions and passwords; :mod:`webapp.dashboard.gate` reads the session's cookie and decides
which pages need one.
"""

from flask import Blueprint, Response, flash, g, make_response, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import cookies
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.gate import session_now
from webapp.dashboard.pages import go
from webapp.dashboard.return_paths import safe_next
from webapp.dashboard.sign_in import devices, oidc, passkey, second_step
from webapp.dashboard.sign_in.outcome import DISABLED, sign_in, too_many
from webapp.kit.translation import gettext
from webapp.kit.translation import lazy as _
from webapp.people import identities, sessions, sign_in_attempts, totp, users

blueprint = Blueprint("session", __name__)

WRONG = _("The e-mail or the password is wrong. Check both and try again.")


@blueprint.get("/sign-in")
def page() -> AnyResponse:
    """The form; a person who is signed in is redirected."""
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
    wait = sign_in_attempts.admit(board.store, board.clock, source)
    if wait:
        return _form(next_url, email, too_many(wait), 429, wait)
    person = users.authenticate(board.store, email=email, password=form.get("password", ""))
    if person is None:
        return _form(next_url, email, WRONG, 422)
    sign_in_attempts.succeeded(board.store, source)
    if not person.enabled:
        return _form(next_url, email, DISABLED, 403)
    return second_step.ask(person, next_url) if totp.is_on(board.store, person.id) else sign_in(person, next_url)


@blueprint.post("/sign-out")
def end() -> AnyResponse:
    """End this session."""
    board, mine = dashboard(), session_now()
    sessions.end(board.store, user_id=mine.user_id, session_id=mine.id)
    there = board.oidc and identities.of_user(board.store, board.oidc.issuer, mine.user_id)
    g.person = g.person_session = None
    session.clear()
    flash(gettext("You are signed out."), "ok")
    response = make_response(go(url_for("dashboard.session.page", left=1 if there else None)))
    cookies.drop_token(response)
    return response


def _form(next_url: str, email: str = "", error: str = "", code: int = 200, wait: int = 0) -> Response:
    provider = dashboard().oidc
    first = not users.any_user(dashboard().store)
    page = render_template(
        "dashboard/session/page.html",
        email=email[: users.MAX_EMAIL],
        error=error,
        next_url=next_url,
        first=first,
        passkeys=passkey.relying_party() is not None,
        oidc=oidc.offered(next_url if next_url != "/" else ""),
        only_oidc=dashboard().settings.oidc_required,
        ended_at=provider.sign_out_url() if provider and request.args.get("left") else None,
    )
    response = make_response(page, code)
    if wait:
        response.headers["Retry-After"] = str(wait)
    return response
