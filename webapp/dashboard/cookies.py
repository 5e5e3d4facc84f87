"""The cookies that pages give a browser: the token of its session, and its theme."""

from flask import Response, request

from webapp.dashboard.dashboard import dashboard
from webapp.people.sessions import LIFETIME


def write_token(response: Response, token: str) -> None:
    """Give the browser its session token, or the same one for another two weeks."""
    settings = dashboard().settings
    response.set_cookie(
        f"{settings.host_cookie}patchbay_session", token, max_age=LIFETIME // 1000, path="/",
        secure=settings.secure, httponly=True, samesite="Lax",
    )  # fmt: skip


def drop_token(response: Response) -> None:
    """Take the session token away."""
    settings = dashboard().settings
    response.delete_cookie(
        f"{settings.host_cookie}patchbay_session", path="/", secure=settings.secure, httponly=True, samesite="Lax"
    )


def read_theme() -> str:
    """The theme that this browser was last given, for pages before anybody signs in."""
    return request.cookies.get(f"{dashboard().settings.host_cookie}theme", "")


def write_theme(response: Response, theme: str) -> None:
    """Let the sign-in page look as the person wants it too. It tells nothing about anybody."""
    settings = dashboard().settings
    response.set_cookie(
        f"{settings.host_cookie}theme", theme, max_age=365 * 24 * 3600, path="/", secure=settings.secure, samesite="Lax"
    )
