"""Sign-in with a passkey, by a script of the sign-in page: the device proves who is present, and no code is needed.

The challenge is kept in the form's signed cookie until it is used, for five minutes at most.
"""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Response, abort, jsonify, request, session
from itsdangerous import want_bytes
from itsdangerous.encoding import base64_decode, base64_encode
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.return_paths import safe_next
from webapp.dashboard.sign_in.outcome import DISABLED, sign_in
from webapp.errors import Invalid
from webapp.kit.translation import gettext
from webapp.people import challenges, passkeys
from webapp.people.passkeys import RelyingParty

_KEPT = "challenge"
blueprint = Blueprint("passkey", __name__)


def give() -> bytes:
    """A new challenge for this browser."""
    challenge = challenges.new()
    session[_KEPT] = [base64_encode(challenge).decode(), dashboard().clock()]
    return challenge


def take() -> bytes | None:
    """The challenge that this browser got, unless it is too old."""
    text, at = session.pop(_KEPT, None) or ("", 0)
    return base64_decode(want_bytes(text)) if text and dashboard().clock() - at < challenges.LIFETIME else None


def relying_party() -> RelyingParty | None:
    """This site; None if browsers offer no passkeys: at an IP address, and without https except on this machine.

    Also None if the settings do not allow passkeys.
    """
    settings = dashboard().settings
    if settings.oidc_required:
        return None
    host = urlsplit(settings.public_url).hostname or ""
    named = host == "localhost" or host.endswith(".localhost")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return RelyingParty(host, settings.public_url) if settings.secure or named else None
    return None


@blueprint.post("/sign-in/passkey/options")
def options() -> AnyResponse:
    """The WebAuthn options for the device."""
    return Response(passkeys.request_options(party(), give()), mimetype="application/json")


@blueprint.post("/sign-in/passkey")
def create() -> AnyResponse:
    """Verify the device's signature and sign in; the answer has the next page."""
    body, expected, board = sent(), take(), dashboard()
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
    return relying_party() or abort(404)


def sent() -> dict[str, Any]:
    """The JSON that a script sent, with a credential in it."""
    body = request.get_json(silent=True)
    if not isinstance(body, dict) or not isinstance(body.get("credential"), dict):
        abort(400)
    return body


def refused(sentence: str) -> Response:
    """The error for the script to show."""
    answer = jsonify(error=sentence)
    answer.status_code = 422
    return answer
