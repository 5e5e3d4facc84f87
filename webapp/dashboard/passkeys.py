"""Passkeys in a person's settings: adding one by a script of the page, and removing one."""

from flask import Blueprint, Response, flash, jsonify, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard import settings
from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.gate import person
from webapp.dashboard.pages import go
from webapp.dashboard.sign_in import passkey
from webapp.dashboard.sign_in.passkey import party, refused, sent
from webapp.errors import Invalid
from webapp.kit.translation import gettext
from webapp.people import passkeys

blueprint = Blueprint("passkeys", __name__)


@blueprint.post("/settings/passkeys/options")
def options() -> AnyResponse:
    """The WebAuthn options for a new key, for a person who repeats the password."""
    problem = settings.wrong_password()
    if problem:
        return refused(problem)
    creation = passkeys.creation_options(dashboard().store, party(), person(), passkey.give())
    return Response(creation, mimetype="application/json")


@blueprint.post("/settings/passkeys")
def create() -> AnyResponse:
    """Store the key that the device created; the answer has the next page."""
    body, expected, board = sent(), passkey.take(), dashboard()
    if expected is None:
        return refused(gettext("That took too long. Try again."))
    try:
        name = str(body.get("name", ""))
        passkeys.add(board.store, board.clock, party(), person(), expected, body["credential"], name)
    except Invalid as error:
        return refused(error.message)
    flash(gettext("The passkey is added. Sign in with it from now on."), "ok")
    return jsonify(url=url_for("dashboard.settings.page"))


@blueprint.post("/settings/passkeys/remove")
def remove() -> AnyResponse:
    """Forget a passkey."""
    with dashboard().store.write() as tx:
        passkeys.remove(tx, dashboard().clock(), person().id, request.form.get("id", ""))
    flash(gettext("The passkey is removed."), "ok")
    return go(url_for("dashboard.settings.page"))
