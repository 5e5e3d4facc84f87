"""What the frame around every page shows: navigation, who is signed in, theme, times and logos."""

from typing import Any

from flask import g, request, url_for

from webapp.dashboard import overview, security
from webapp.dashboard.dashboard import dashboard, service
from webapp.dashboard.htmx import flashed
from webapp.dashboard.words import AUTH, STATE_TONES, STATES, count_of, uses_of
from webapp.errors import PatchbayError
from webapp.frontend import Moment, asset_url, moment
from webapp.kit.clock import parse_iso
from webapp.people.users import User

THEMES = ("auto", "light", "dark")


def context() -> dict[str, Any]:
    """The context of every dashboard template."""
    person: User | None = g.get("person")
    theme = request.cookies.get("theme", "auto")
    common = {
        "asset": asset_url,
        "csp_nonce": security.csp_nonce(),
        "theme": theme if theme in THEMES else "auto",
        "when": when,
        "at": lambda ms: moment(ms, dashboard().clock()),
        "logo_url": logo_url,
        "count_of": count_of,
        "uses_of": uses_of,
        "STATES": STATES,
        "STATE_TONES": STATE_TONES,
        "AUTH": AUTH,
    }
    if person is None or g.get("fragment"):
        return common
    return common | {
        "flashed": flashed,
        "nav": _navigation(person),
        "person": {"email": person.email, "role": person.role},
        "sign_out_url": url_for("dashboard.session.end"),
    }


def when(text: str | None) -> Moment | None:
    """An ISO 8601 time as a page shows it; one that cannot be read is left out."""
    try:
        return moment(parse_iso(text), dashboard().clock()) if text else None
    except (ValueError, OverflowError, OSError):
        return None


def logo_url(source: str) -> str:
    """``source`` where the page may load it from, else "" (then the app's letter stands in)."""
    origins = dashboard().image_origins
    if source.startswith("/") and not source.startswith("//"):
        return source
    return source if any(source.startswith(origin + "/") for origin in origins) else ""


def _navigation(person: User) -> list[dict[str, Any]]:
    here = (request.endpoint or "").split(".")
    noun = here[1] if len(here) > 2 else ""
    return [
        {"label": "Apps", "url": url_for("dashboard.apps.index"), "icon": "apps", "current": noun == "apps"},
        {
            "label": "Accounts",
            "url": url_for("dashboard.accounts.index"),
            "icon": "accounts",
            "current": noun in ("accounts", "account", "connections"),
            **_counts(person),
        },
        {"label": "You", "url": url_for("dashboard.profile.page"), "icon": "user", "current": noun == "profile"},
    ]


def _counts(person: User) -> dict[str, Any]:
    """How many accounts there are and how many need somebody; nothing when that cannot be told now."""
    board = dashboard()
    known = board.overviews.get(person.id)
    if known is None and not g.get("service_failed"):
        try:
            known = board.overviews.put(person.id, overview.read(service()))
        except PatchbayError:
            g.service_failed = True
    if known is None:
        return {}
    needing = len(known.needing)
    words = ("1 needs you" if needing == 1 else f"{needing} need you") if needing else ""
    return {"count": known.total or None, "bad": words}
