"""Signing in with a passkey, by a script of the sign-in page: the device proves who is there, and no code is asked."""

from typing import Any

from flask import Blueprint, Response, abort, jsonify, request
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.return_paths import safe_next
from webapp.dashboard.sign_in import challenge
from webapp.dashboard.sign_in.success import DISABLED, sign_in
from webapp.errors import Invalid
from webapp.kit.translation import gettext
from webapp.people import passkeys
from webapp.people.passkeys import RelyingParty

blueprint = Blueprint("passkey", __name__)


@blueprint.post("/sign-in/passkey/options")
def options() -> AnyResponse:
    """What the browser asks the device."""
    return Response(passkeys.request_options(party(), challenge.give()), mimetype="application/json")


@blueprint.post("/sign-in/passkey")
def create() -> AnyResponse:
    """Check what the device signed and sign in; the answer says where to go."""
    body, expected, board = sent(), challenge.take(), dashboard()
    if expected is None:
        return refused(gettext("That took too long. Try again."))
    try:
        person = passkeys.authenticate(board.store, board.clock, party(), expected, body["credential"])
    except Invalid as error:
        return refused(error.message)
    if not person.enabled:
        return refused(str(DISABLED))
    next_url = safe_next(str(body.get("next", "")))
    answer = jsonify(url=next_url)
    for name, value in sign_in(person, next_url).headers:
        if name == "Set-Cookie":
            answer.headers.add(name, value)
    return answer


def party() -> RelyingParty:
    """This site; 404 where browsers offer no passkeys."""
    return challenge.relying_party() or abort(404)


def sent() -> dict[str, Any]:
    """The JSON that a script sent, with a credential in it."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict) or not isinstance(body.get("credential"), dict):
        abort(400)
    return body


def refused(sentence: str) -> Response:
    """Say what is wrong to the script, which shows it."""
    answer = jsonify(error=sentence)
    answer.status_code = 422
    return answer
