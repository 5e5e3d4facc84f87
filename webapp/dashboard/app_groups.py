"""The apps of the Apps page in three groups: connected by the person, ready to connect, and not set up yet.

The groups are one list of the service, which has the apps by state. A service that does not list them so has one group.
A cursor contains the group in which it is: ``ready:<the API's cursor>``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from markupsafe import Markup

from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.connect import SLUGS
from webapp.dashboard.client.models.accounts import App, AppPage, Category
from webapp.kit.translation import lazy as _
from webapp.kit.translation import lazy_pgettext

STATES: Mapping[str, str] = {
    "connected": lazy_pgettext("apps", "Connected"),
    "ready": _("Ready"),
    "setup": _("Needs setup"),
}
HEADINGS: Mapping[str, str] = {**STATES, "ready": _("Ready to connect")}
_CHUNK = 96  # of one call


@dataclass(frozen=True, slots=True)
class Catalog:
    """Facts that rarely change: the categories, the number of apps, and whether the service lists by state.

    ``drawn`` has the HTML of the categories by what it depends on besides, as far as they were drawn before.
    """

    categories: tuple[Category, ...]
    total: int
    has_states: bool
    drawn: dict[tuple[str, ...], Markup] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """Some apps of a state ("" if states are unknown), and their total number. ``begins``: whether it has a heading."""

    state: str
    apps: tuple[App, ...]
    total: int
    begins: bool


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups that are shown, the number of apps in each, and the cursor to the rest.

    ``categories`` has the number of apps in each category by id, whichever is chosen; None if it is unknown.
    """

    groups: tuple[Group, ...]
    counts: Mapping[str, int]
    next_cursor: str
    total: int
    categories: Mapping[str, int] | None = None

    @property
    def shown(self) -> int:
        """The number of apps that are shown."""
        return sum(len(group.apps) for group in self.groups)


class Ask(Protocol):
    """A function that returns up to ``limit`` apps from the cursor ``after`` on."""

    def __call__(self, filters: AppFilter, *, limit: int, after: str = "") -> AppPage: ...


def read(
    ask: Ask,
    base: AppFilter,
    connected: Sequence[str] | None,
    *,
    count: int,
    state: str = "",
    after: str = "",
    all_states: bool = True,
) -> Groups:
    """Up to ``count`` apps from the cursor ``after`` on, of one ``state`` or of each in turn.

    ``connected`` are slugs, of which those beyond :data:`SLUGS` stand among the apps that are ready or not set up; None
    puts all apps into one group, for a service that does not list by state. Without
    ``all_states``, apps that are not set up are left out.
    """
    begun, _colon, cursor = after.partition(":")
    known, listed = [name for name in STATES if all_states or name != "setup"], [""]
    if connected is not None:
        listed = [state] if state in known else known
        base = base._replace(states=",".join(listed), connected=",".join(connected[:SLUGS]))
    apps, last, end = _cards(ask, base, count, cursor if begun in listed else "")
    counts = dict.fromkeys(listed, last.total)
    if last.counts:
        counts = {name: last.counts.states.get(name, 0) for name in known}
    own = frozenset(connected[:SLUGS]) if connected else frozenset[str]()

    def state_of(app: App) -> str:
        if listed == [""]:
            return ""
        return "connected" if app.slug in own else "ready" if app.ready else "setup"

    groups = [
        Group(name, tuple(members), counts.get(name, 0), begins=not (cursor and name == begun))
        for name, members in groupby(apps, state_of)
    ]
    return Groups(
        tuple(groups),
        counts,
        next_cursor=f"{groups[-1].state}:{end}" if groups and end else "",
        total=last.total,
        categories=last.counts.categories if last.counts else None,
    )


def _cards(ask: Ask, filters: AppFilter, count: int, after: str) -> tuple[list[App], AppPage, str]:
    """Up to ``count`` apps, the page that the last of them are from, and the cursor to the next ones."""
    apps: list[App] = []
    while True:
        page = ask(filters, limit=min(_CHUNK, count - len(apps)), after=after)
        apps += page.items
        after = page.end_cursor if page.items else ""
        if not after or len(apps) >= count:
            return apps, page, after
