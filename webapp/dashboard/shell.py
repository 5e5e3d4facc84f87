"""The context of all dashboard templates: the navigation with its counts, the viewer, theme, times and logos.

Fragments get it without the navigation.
"""

from collections.abc import Callable, Mapping
from datetime import UTC
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote
from zoneinfo import ZoneInfo

from flask import g, request, url_for

from webapp.dashboard import menu
from webapp.dashboard.build import menu as build_menu
from webapp.dashboard.build import project_list
from webapp.dashboard.client.overview import TriggerOverview
from webapp.dashboard.cookies import read_theme
from webapp.dashboard.dashboard import (
    ALL_PROJECTS,
    dashboard,
    has_logs,
    if_up,
    known_accounts,
    known_triggers,
    viewer,
)
from webapp.dashboard.gate import csp_nonce
from webapp.dashboard.pages import address, flashed, here
from webapp.dashboard.portal import shell as portal
from webapp.dashboard.portal.mount import HANDLE
from webapp.dashboard.words import AUTH, ROLES, STATE_TONES, STATES, uses_of
from webapp.errors import NotFound
from webapp.kit.assets import asset_url
from webapp.kit.clock import parse_iso
from webapp.kit.translation import Moment, direction, gettext, language, moment, ngettext
from webapp.kit.translation import lazy as _
from webapp.people.preferences import BROWSER_ZONE, THEMES, Preferences
from webapp.people.users import User

# By the name that the API has for it.
ENVIRONMENTS: Mapping[str, str] = {"development": _("Development"), "production": _("Production")}
_NOUNS = {noun: page.label for noun, page in menu.PAGES.items()}


class MenuItem(NamedTuple):
    """A page in the menu. ``bad`` says how many of its things need the person, of ``total``.

    ``live`` is where the former is asked for again; a fragment replaces both numbers by the ``id``.
    """

    label: str
    url: str
    icon: str
    current: bool
    bad: str = ""
    total: int | None = None
    live: str = ""
    id: str = ""


class SceneChoice(NamedTuple):
    """A project or environment in which the pages can show things; ``live`` is the environment that products use."""

    id: str
    label: str
    current: bool
    live: bool = False


def context() -> dict[str, Any]:
    """The context of every dashboard template."""
    user: User | None = g.get("person")
    chosen: Preferences | None = g.get("preferences")
    theme = chosen.theme if chosen else read_theme()
    at = clock()
    common = {
        "asset": asset_url,
        "csp_nonce": csp_nonce(),
        "theme": theme if theme in THEMES else "auto",
        "zone": chosen.time_zone if chosen else BROWSER_ZONE,
        "lang": language(),
        "dir": direction(),
        "when": partial(when, at),
        "at": at,
        "stale_since": lambda: at(g.stale_since) if g.get("stale_since") else None,
        "logo_url": logo_url,
        "account_url": account_url,
        "address": address,
        "app_url": app_url,
        "uses_of": uses_of,
        "STATES": STATES,
        "STATE_TONES": STATE_TONES,
        "AUTH": AUTH,
        "admits": g.viewer.may if g.get("viewer") else bool,
        "nouns": _NOUNS,
        "has_logs": has_logs,
        "portal": None,
    }
    if g.get("portal") or HANDLE in request.environ:
        return common | portal.context()
    if user is None or g.get("fragment"):
        return common
    path = here()
    return common | {
        "flashed": flashed,
        "nav": _navigation(path),
        "nav_build": tuple(
            _item(path, f"build_{noun}", page.label, "page", icon=page.icon)
            for noun, page in build_menu.seen_by(viewer().role).items()
        ),
        **(_scenes() if viewer().may_build else {}),
        "person": {"email": user.email, "role": ROLES.get(user.role, user.role)},
        "sign_out_url": address("dashboard.session.end"),
        "theme_url": address("dashboard.settings.theme"),
        "search_url": address("dashboard.search.index"),
    }


def pages() -> list[tuple[str, str, str]]:
    """The label, the path and the icon of each page in the viewer's menu, and of those to read."""
    entries = [
        (str(page.label), url_for(f"dashboard.{noun}.{page.endpoint}"), noun) for noun, page in menu.offered().items()
    ]
    entries += [
        (f"{page.label} · {gettext('Build')}", url_for(f"dashboard.build_{noun}.page"), page.icon)
        for noun, page in build_menu.seen_by(viewer().role).items()
    ]
    return [*entries, (gettext("Manual"), "/docs", "docs"), (gettext("API reference"), "/docs/api", "docs")]


def clock() -> Callable[[int], Moment]:
    """What makes a :class:`Moment` of epoch milliseconds, as it is now.

    It is in the zone that the person chose; the browser’s own is not known here: UTC, until a script puts it right.
    """
    chosen: Preferences | None = g.get("preferences")
    zone = ZoneInfo(chosen.time_zone) if chosen and chosen.time_zone else UTC
    return partial(moment, now_ms=dashboard().clock(), zone=zone)


def when(at: Callable[[int], Moment], text: str | None) -> Moment | None:
    """An ISO 8601 time as a page shows it ``at`` its :func:`clock`; one that cannot be read is left out."""
    try:
        return at(parse_iso(text)) if text else None
    except (ValueError, OverflowError, OSError):
        return None


def account_url(account_id: str) -> str:
    """The page of an account: ``url_for``, at a tenth of its cost, for lists."""
    return f"{address('dashboard.accounts.index')}/{quote(account_id, safe='')}"


def app_url(slug: str) -> str:
    """The page of an app, likewise."""
    return f"{address('dashboard.apps.index')}/{quote(slug, safe='')}"


def logo_url(source: str) -> str:
    """``source`` if the page may load it, else "" (then the app's letter is shown)."""
    origins = dashboard().image_origins
    if source.startswith("/") and not source.startswith("//"):
        return source
    return source if any(source.startswith(origin + "/") for origin in origins) else ""


def _scenes() -> dict[str, Any]:
    """The viewer's scene, and others to switch to."""
    client, known = viewer().client, dashboard().projects.get(ALL_PROJECTS)
    if known is None and (viewer().in_chosen_project or dashboard().changes.shared):
        known = if_up(project_list.refresh)
    environments = tuple(
        SceneChoice(name, label, name == client.environment, live=name == "production")
        for name, label in ENVIRONMENTS.items()
    )
    here = client.project_id if known and len(known) > 1 else ""
    projects = tuple(SceneChoice(each.id, each.name, each.id == here) for each in known or () if here)
    return {"environments": environments, "scene_projects": projects, "scene_url": address("dashboard.scene.choose")}


def _navigation(path: str) -> tuple[MenuItem, ...]:
    counts = {
        "accounts": lambda: {"id": "nav-accounts", **account_counts()},
        "triggers": _trigger_counts,
        "agents": _waiting,
    }
    return tuple(
        _item(path, noun, page.label, page.endpoint, **counts.get(noun, dict)())
        for noun, page in menu.offered().items()
    )


def _item(path: str, noun: str, label: str, endpoint: str = "index", **more: Any) -> MenuItem:
    url = address(f"dashboard.{noun}.{endpoint}")
    facts = {"icon": noun, "current": f"{path}/".startswith(f"{url}/"), **more}
    return MenuItem(str(label), url, **facts)


def account_counts() -> dict[str, Any]:
    """The number of accounts and of those that need attention; empty if that is unknown now."""
    accounts = dashboard().overviews.get(viewer().key) or if_up(known_accounts)
    return {"total": accounts.total or None, "bad": _need(len(accounts.needing))} if accounts else {}


def _trigger_counts() -> dict[str, Any]:
    """The same of triggers."""
    triggers = dashboard().triggers.get(viewer().key) or if_up(_triggers_or_none)
    return {"total": triggers.total or None, "bad": _need(triggers.needing)} if triggers else {}


def _waiting() -> dict[str, Any]:
    """The number of agents' calls that wait, if known; the page requests it later otherwise."""
    count = dashboard().waiting.get(viewer().key) or 0
    return {"bad": _need(count), "live": address("dashboard.agents.waiting_count")}


def _triggers_or_none() -> TriggerOverview:
    """The triggers; none if the service has no triggers."""
    try:
        return known_triggers()
    except NotFound:
        return dashboard().triggers.put(viewer().key, TriggerOverview((), 0))


def _need(count: int) -> str:
    return ngettext("{count} needs you", "{count} need you", count).format(count=count) if count else ""
