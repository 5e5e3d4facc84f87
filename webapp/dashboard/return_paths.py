"""Paths to return to, only of our own pages: the page of a form, or the one requested before a sign-in."""

from urllib.parse import unquote, urlsplit

from flask import current_app, request, url_for
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect


def page_before() -> str:
    """The page of the posted form, if the browser names it and it is ours.

    A page that responded to a form, such as one with a new link, has an address that cannot be opened: then the nearest
    one above it.
    """
    referrer = request.headers.get("Referer", "")
    path = referrer.removeprefix(request.host_url.rstrip("/"))
    path = safe_next(path if path != referrer else None, url_for("dashboard.home"))
    if _opens(path):
        return path
    parts = path.partition("?")[0].split("/")
    above = ("/".join(parts[:count]) for count in range(len(parts) - 1, 1, -1))
    return next(filter(_opens, above), url_for("dashboard.home"))


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


def _opens(path: str) -> bool:
    """Whether ``path`` is a page that can be opened, in a portal one of its own."""
    inside = unquote(path.partition("?")[0]).removeprefix(request.script_root)
    if not (path.startswith(f"{request.script_root}/") and inside.startswith("/")):
        return False
    routes = current_app.create_url_adapter(request)
    try:
        return routes is not None and bool(routes.match(inside, method="GET"))
    except RequestRedirect:
        return True
    except HTTPException:
        return False
