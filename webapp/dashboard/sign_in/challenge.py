"""The challenge that a browser was just given for a passkey, and the site that passkeys are for.

The challenge is kept in the form's signed cookie until it is answered, for five minutes at most.
"""

import ipaddress
from urllib.parse import urlsplit

from flask import session
from itsdangerous import want_bytes
from itsdangerous.encoding import base64_decode, base64_encode

from webapp.dashboard.dashboard import dashboard
from webapp.people import challenges
from webapp.people.passkeys import RelyingParty

_KEPT = "challenge"


def give() -> bytes:
    """A new challenge for this browser."""
    challenge = challenges.new()
    session[_KEPT] = [base64_encode(challenge).decode(), dashboard().clock()]
    return challenge


def take() -> bytes | None:
    """The challenge that this browser was given, unless it is too old."""
    text, at = session.pop(_KEPT, None) or ("", 0)
    return base64_decode(want_bytes(text)) if text and dashboard().clock() - at < challenges.LIFETIME else None


def relying_party() -> RelyingParty | None:
    """This site; none where browsers offer no passkeys: at a bare address, and without https but on this machine.

    None either where they let nobody in.
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
