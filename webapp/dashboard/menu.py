"""The menu that everybody has: its pages in their order.

The pages of Build, and the roles that see them, are in :mod:`webapp.dashboard.build.menu`; the tabs of a portal in
:mod:`webapp.dashboard.portal.shell`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from webapp.dashboard.dashboard import agents, has_logs, offers
from webapp.kit.translation import lazy as _


def always() -> bool:
    """True."""
    return True


def _has_agents() -> bool:
    return offers("agents", lambda: agents().apps())


@dataclass(frozen=True, slots=True)
class Page:
    """A page in the menu. One that is not ``offered``, as the service lacks what it shows, is left out."""

    label: str
    endpoint: str = "index"
    offered: Callable[[], bool] = always


PAGES: Mapping[str, Page] = {
    "apps": Page(_("Apps")),
    "accounts": Page(_("Accounts")),
    "triggers": Page(_("Triggers")),
    "logs": Page(_("Logs"), offered=has_logs),
    "agents": Page(_("Agents"), offered=_has_agents),
    "settings": Page(_("Settings"), "page"),
}
"""By noun, which is also that of its blueprint and its icon."""


def offered() -> dict[str, Page]:
    """The pages that the service has, by noun."""
    return {noun: page for noun, page in PAGES.items() if page.offered()}
