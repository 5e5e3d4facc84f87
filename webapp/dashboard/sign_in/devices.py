"""Known devices, by a signed cookie, and the source of an attempt to sign in.

The cookie contains a random name of the device and the hashes of the last accounts that signed in on it. It lets nobody
in: attempts of known devices are only counted separately from others (:mod:`webapp.people.sign_in_attempts`).
"""

import hashlib
import secrets
from typing import Any

from flask import Response, current_app, request
from itsdangerous import BadData, URLSafeSerializer

from webapp.dashboard.dashboard import dashboard
from webapp.kit.crypto import hash_token
from webapp.kit.networks import UNNAMED_PROXY
from webapp.people import users
from webapp.people.sign_in_attempts import Source

_ACCOUNTS = 5
_LIFETIME_S = 365 * 24 * 3600


def source(email: str, step: str = "password") -> Source:
    """The source of this request's attempt to sign in as ``email``, for the given ``step``."""
    device, accounts = _read()
    address = None if behind_unnamed_proxy() else request.remote_addr or ""
    return Source(email, address, device if _mark(email) in accounts else None, step)


def behind_unnamed_proxy() -> bool:
    """Whether the request came through a proxy that the settings do not name, so that all visitors share its
    address.
    """
    return UNNAMED_PROXY in request.environ


def remember(response: Response, email: str) -> None:
    """Let the browser be known as one on which ``email`` has signed in."""
    device, accounts = _read()
    kept = [account for account in accounts if account != _mark(email)]
    value = _serializer().dumps([device or secrets.token_urlsafe(16), [_mark(email), *kept][:_ACCOUNTS]])
    settings = dashboard().settings
    response.set_cookie(
        _name(), str(value), max_age=_LIFETIME_S, path="/", secure=settings.secure, httponly=True, samesite="Lax"
    )


def _read() -> tuple[str | None, list[str]]:
    """The device's name, and the accounts that it signed in to."""
    try:
        device, accounts = _serializer().loads(request.cookies.get(_name(), ""))
    except (BadData, ValueError, TypeError):
        return None, []
    return str(device), list(accounts)


def _name() -> str:
    return f"{dashboard().settings.host_cookie}patchbay_device"


def _mark(email: str) -> str:
    return hash_token(users.normal_email(email))[:16]


def _serializer() -> Any:
    key = current_app.secret_key or ""
    return URLSafeSerializer(key, salt="devices", signer_kwargs={"digest_method": hashlib.sha256})
