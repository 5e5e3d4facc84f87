"""The page of an invitation's link: the person chooses a password, and is signed in.

Attempts are limited like those to sign in: a wrong token counts towards the address it comes from.
"""

from flask import Blueprint, Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.build.project_list import product_name
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.sign_in import devices, oidc
from webapp.dashboard.sign_in.outcome import refused, sign_in, too_many
from webapp.dashboard.words import ROLES
from webapp.errors import Conflict, Forbidden, Invalid
from webapp.kit.crypto import hash_token
from webapp.kit.translation import gettext
from webapp.people import invitations, sign_in_attempts
from webapp.people.invitations import Invitation

blueprint = Blueprint("invitation", __name__)


@blueprint.get("/invitation")
def page() -> AnyResponse:
    """The form, for a visitor with the token."""
    token = request.args.get("token", "")
    invitation = _admitted(token)
    return _form(invitation, token) if isinstance(invitation, Invitation) else invitation


@blueprint.post("/invitation")
def accept() -> AnyResponse:
    """Make the login and sign in."""
    board, form = dashboard(), request.form
    token = form.get("token", "")
    invitation = _admitted(token)
    if not isinstance(invitation, Invitation):
        return invitation
    try:
        person = invitations.accept(board.store, board.clock, token=token, password=form.get("password", ""))
    except (Conflict, Forbidden):  # somebody was quicker
        return _refused()
    except Invalid as error:
        return _form(invitation, token, error.message, 422)
    signed_in = sign_in(person, url_for("dashboard.apps.index"))
    flash(gettext("Welcome. Next time, sign in with {email} and your password.").format(email=person.email), "ok")
    return signed_in


def _admitted(token: str) -> Invitation | Response:
    """The invitation of ``token``, or the response if there is none."""
    board = dashboard()
    source = devices.source(hash_token(token), "invitation")
    wait = sign_in_attempts.admit(board.store, board.clock, source)
    if wait:
        response = refused(gettext("Too many tries"), too_many(wait), code=429)
        response.headers["Retry-After"] = str(wait)
        return response
    invitation = invitations.by_token(board.store, board.clock(), token)
    if invitation is None:
        return _refused()
    sign_in_attempts.succeeded(board.store, source)
    return invitation


def _form(invitation: Invitation, token: str, error: str = "", code: int = 200) -> Response:
    page = render_template(
        "dashboard/session/invitation.html",
        invitation=invitation,
        role=ROLES[invitation.role],
        product=product_name(),
        token=token,
        error=error,
        oidc=oidc.offered(),
        only_oidc=dashboard().settings.oidc_required,
    )
    return make_response(page, code)


def _refused() -> Response:
    return refused(
        gettext("This invitation does not work"),
        gettext("It was used already, was withdrawn, is older than a week, or is not complete. Ask for a new one."),
    )
