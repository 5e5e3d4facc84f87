"""Headers of every dashboard page: what it may load, who may frame it, who may keep it; and its cookies.

Content-Security-Policy level 3 with a nonce for the one style element that carries a brand's hue; nothing inline,
no eval. Every page is ``no-store``: each one shows somebody's accounts or carries a form token.
"""

import secrets
from urllib.parse import urlsplit

from flask import Flask, Response, g, request, url_for

from webapp.dashboard.dashboard import dashboard
from webapp.dashboard.htmx import VARY
from webapp.people.sessions import LIFETIME
from webapp.settings import Settings

_FIXED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": VARY,
}


def csp_nonce() -> str:
    """The nonce of this response, made when it is first asked for."""
    if "csp_nonce" not in g:
        g.csp_nonce = secrets.token_urlsafe(16)
    return str(g.csp_nonce)


def add_headers(response: Response) -> Response:
    """Put the headers on a dashboard response."""
    response.headers.update(_FIXED)
    response.headers["Content-Security-Policy"] = _policy()
    return response


def _policy() -> str:
    board = dashboard()
    forms = "'self' " + " ".join(board.image_origins)  # a form's redirect leads to the Connect Link
    images = "'self' data: " + " ".join(board.image_origins)
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            f"style-src 'self' 'nonce-{csp_nonce()}'",
            f"img-src {images}",
            "font-src 'self'",
            "connect-src 'self'",
            f"form-action {forms}",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )


def configure_cookies(app: Flask, settings: Settings) -> None:
    """Set up the cookie that binds form tokens to a browser."""
    app.config.update(
        SESSION_COOKIE_NAME=_name(settings, "patchbay_form"),
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.secure,
        SESSION_COOKIE_PATH="/",
        WTF_CSRF_CHECK_DEFAULT=False,  # the API and the Connect Link have their own proof; see gate.py
        WTF_CSRF_TIME_LIMIT=None,  # as long as the cookie: a page left open overnight still works
    )


def read_token() -> str | None:
    """The session token that the browser sent."""
    return request.cookies.get(_name(dashboard().settings, "patchbay_session"))


def write_token(response: Response, token: str) -> None:
    """Give the browser its session token, or the same one for another two weeks."""
    settings = dashboard().settings
    response.set_cookie(
        _name(settings, "patchbay_session"), token, max_age=LIFETIME // 1000, path="/",
        secure=settings.secure, httponly=True, samesite="Lax",
    )  # fmt: skip


def drop_token(response: Response) -> None:
    """Take the session token away."""
    settings = dashboard().settings
    response.delete_cookie(
        _name(settings, "patchbay_session"), path="/", secure=settings.secure, httponly=True, samesite="Lax"
    )


def read_theme() -> str:
    """The theme that this browser was last given, for pages before anybody signs in."""
    return request.cookies.get("theme", "")


def write_theme(response: Response, theme: str) -> None:
    """Let the sign-in page look as the person wants it too. It tells nothing about anybody."""
    secure = dashboard().settings.secure
    response.set_cookie("theme", theme, max_age=365 * 24 * 3600, path="/", secure=secure, samesite="Lax")


def page_before() -> str:
    """The page a form stood on, when the browser says so and it is ours."""
    referrer = request.headers.get("Referer", "")
    path = referrer.removeprefix(request.host_url.rstrip("/"))
    return safe_next(path if path != referrer else None, url_for("dashboard.home"))


def safe_next(target: str | None, fallback: str = "/") -> str:
    """``target`` if it is a path on this very site, else ``fallback``.

    Browsers drop tabs and line ends and take a backslash for a slash, so any of them makes a path unsafe.
    """
    if not target or not target.startswith("/") or target.startswith("//") or len(target) > 2_000:
        return fallback
    if "\\" in target or any(character < " " or character == "\x7f" for character in target):
        return fallback
    try:
        parts = urlsplit(target)
    except ValueError:
        return fallback
    return target if not parts.scheme and not parts.netloc else fallback


def _name(settings: Settings, name: str) -> str:
    """``__Host-`` makes browsers insist on Secure, on no Domain and on Path=/ (RFC 6265bis section 4.1.3.2)."""
    return f"__Host-{name}" if settings.secure else name
