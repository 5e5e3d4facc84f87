"""The context of a portal's pages: the product's name and colour, its tabs, and other apps."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import g, request, url_for

from webapp.dashboard import menu
from webapp.dashboard.agents import agents
from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.lenient import PageOf
from webapp.dashboard.dashboard import if_up, known_accounts, known_triggers, service
from webapp.dashboard.pages import flashed
from webapp.dashboard.portal.gate import admits, left_ms
from webapp.dashboard.portal.sessions import PortalSession

OTHERS = 6
_TABS = ("accounts", "triggers", "logs", "agents")


@dataclass(frozen=True, slots=True)
class Shell:
    """What stands around a portal's page. Before the session is known, it has no product."""

    session: PortalSession | None

    @property
    def product(self) -> str:
        """The product's name."""
        return self.session.facts.project_app_name if self.session else ""

    @property
    def support(self) -> str:
        """The support address of the product."""
        return self.session.facts.project_support_email if self.session else ""

    @property
    def logo(self) -> str:
        """The product's logo, if it has one."""
        return self.session.facts.project_logo_url if self.session else ""

    @property
    def alone(self) -> bool:
        """Whether the page has no tabs and no way back."""
        return self.session is not None and not self.session.look.nav

    @property
    def asleep(self) -> bool:
        """Whether it waits for a new token."""
        return "asleep" in g

    @property
    def base(self) -> str:
        """The prefix of its pages' addresses."""
        return self.session.base if self.session else ""

    @property
    def origins(self) -> str:
        """Whom the page may talk to, as JSON."""
        return json.dumps(self.session.facts.allowed_origins if self.session else ())

    @property
    def left(self) -> int:
        """For how long its token still works, in milliseconds."""
        return left_ms()

    @property
    def tab(self) -> str:
        """The tab of this page; "" without a page."""
        noun = request.path.split("/")[1]
        return (noun if noun in _TABS else "accounts") if request.endpoint else ""

    def tabs(self) -> list[dict[str, Any]]:
        """The tabs that the token's scope admits."""
        counts = {"accounts": _accounts, "triggers": _triggers, "agents": _waiting}
        return [
            {
                "label": menu.PAGES[noun].label,
                "url": url_for(f"dashboard.{noun}.index"),
                "current": noun == self.tab,
                "count": counts[noun]() if noun in counts else None,
            }
            for noun in _TABS
            if admits(noun)
        ]

    def others(self) -> PageOf[App] | None:
        """Apps that can be connected and are not; None if they are unknown, or connecting is not allowed."""
        if not admits("connections"):
            return None
        known = if_up(known_accounts)
        connected = ",".join(slug for slug, _name in known.apps()) if known else ""
        return if_up(partial(service().apps, AppFilter(ready="true", without=connected), limit=OTHERS))


def first_tab() -> str:
    """The first page of a portal: the first tab that its token allows, else the apps."""
    noun = next((noun for noun in _TABS if admits(noun)), "apps")
    return url_for(f"dashboard.{noun}.index")


def context() -> dict[str, Any]:
    """The context in addition to the dashboard's."""
    session: PortalSession | None = g.portal
    look = {"theme": session.look.theme} if session else {}
    brand = {"name": session.facts.project_app_name, "hue": session.facts.project_brand_hue} if session else {}
    around = {
        "portal": Shell(session),
        "page_layout": "layouts/portal.html",
        "flashed": flashed,
    }
    return around | {"brand": brand} | look


def _accounts() -> int | None:
    known = if_up(known_accounts)
    return known.total if known else None


def _waiting() -> int | None:
    """The number of agents' calls that wait for the person."""
    known = agents.count_waiting()
    return (if_up(partial(agents.count_waiting, fresh=True)) if known is None else known) or None


def _triggers() -> int | None:
    known = if_up(known_triggers)
    return known.total if known else None
