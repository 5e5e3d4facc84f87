"""Two-step sign-in in a person's settings: switching it on with an authenticator app, off, and recovery codes.

Changes that could let another person in, or lock the person out, need the password again.
"""

from flask import Blueprint, Response, flash, make_response, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import settings
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.gate import person
from webapp.dashboard.pages import go
from webapp.errors import Conflict
from webapp.kit.translation import gettext
from webapp.people import totp

blueprint = Blueprint("two_step", __name__)


@blueprint.get("/settings/two-step")
def page() -> AnyResponse:
    """The set-up page: a QR code for the app, the same as text, and the form for the first code."""
    return _page()


@blueprint.post("/settings/two-step")
def enable() -> AnyResponse:
    """Switch it on, and show the recovery codes this once."""
    problem = settings.wrong_password()
    if problem:
        return _page({"current": problem}, 422)
    codes = dashboard().totp.enable(person(), request.form.get("code", ""))
    if codes is None:
        return _page({"code": gettext("That code is not right. Type the one that your app shows now.")}, 422)
    return _codes(codes, gettext("Two-step sign-in is on."))


@blueprint.post("/settings/two-step/codes")
def renew_codes() -> AnyResponse:
    """Show new recovery codes this once, in place of those before."""
    problem = settings.wrong_password()
    if problem:
        return settings.show({"two_step": problem}, 422)
    with dashboard().store.write() as tx:
        codes = totp.replace_recovery_codes(tx, person().id) if totp.is_on(tx, person().id) else []
    return _codes(codes, gettext("You have new recovery codes.")) if codes else go(url_for("dashboard.settings.page"))


@blueprint.post("/settings/two-step/off")
def disable() -> AnyResponse:
    """Switch it off."""
    problem = settings.wrong_password()
    if problem:
        return settings.show({"two_step": problem}, 422)
    with dashboard().store.write() as tx:
        totp.disable(tx, dashboard().clock(), person().id)
    flash(gettext("Two-step sign-in is off."), "ok")
    return go(url_for("dashboard.settings.page"))


def _page(errors: dict[str, str] | None = None, code: int = 200) -> AnyResponse:
    board = dashboard()
    try:
        secret = board.totp.begin(person())
    except Conflict:
        return go(url_for("dashboard.settings.page"))
    import segno  # slow to load, for one page

    address = totp.address(secret, person(), f"Patchbay ({board.public_host})")
    page = render_template(
        "dashboard/settings/two_step.html",
        picture=segno.make_qr(address).svg_data_uri(border=2, scale=4),
        address=address,
        secret=" ".join(secret[start : start + 4] for start in range(0, len(secret), 4)),
        errors=errors or {},
    )
    return make_response(page, code)


def _codes(codes: list[str], done: str) -> Response:
    return make_response(render_template("dashboard/settings/recovery_codes.html", codes=codes, done=done))
