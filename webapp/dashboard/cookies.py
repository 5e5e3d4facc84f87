"""The dashboard's cookies: the session token and the theme."""

from flask import Response, request

from webapp.dashboard.dashboard import dashboard
from webapp.people.sessions import LIFETIME


def write_token(response: Response, token: str) -> None:
    """Set the cookie with the session token, or extend it by two weeks."""
    settings = dashboard().settings
    response.set_cookie(
        f"{settings.host_cookie}patchbay_session", token, max_age=LIFETIME // 1000, path="/",
        secure=settings.secure, httponly=True, samesite="Lax",
    )  # fmt: skip


def drop_token(response: Response) -> None:
    """Delete the cookie with the session token."""
    settings = dashboard().settings
    response.delete_cookie(
        f"{settings.host_cookie}patchbay_session", path="/", secure=settings.secure, httponly=True, samesite="Lax"
    )


def read_theme() -> str:
    """The theme in the browser's cookie, for pages before sign-in."""
    return request.cookies.get(f"{dashboard().settings.host_cookie}theme", "")


def write_theme(response: Response, theme: str) -> None:
    """Set the cookie with the theme, for pages before sign-in. It contains no personal data."""
    settings = dashboard().settings
    response.set_cookie(
        f"{settings.host_cookie}theme", theme, max_age=365 * 24 * 3600, path="/", secure=settings.secure, samesite="Lax"
    )
