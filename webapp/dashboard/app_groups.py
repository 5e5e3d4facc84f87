"""The apps of the Apps page in three groups: connected by the person, ready to connect, and not set up yet.

Each group is a filtered list of the service. A service that does not say which apps are ready has one group. A cursor
contains its group: ``ready:<the API's cursor>``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from markupsafe import Markup

from webapp.dashboard.client.accounts import AppFilter
from webapp.dashboard.client.models.accounts import App, Category
from webapp.dashboard.client.models.lenient import PageOf
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
    """Facts that rarely change: the categories, the number of apps, and whether the service says which are ready.

    ``drawn`` has the HTML of the categories by what it depends on besides, as far as they were drawn before.
    """

    categories: tuple[Category, ...]
    total: int
    tells_ready: bool
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
    """The groups that are shown, the number of apps in each, and the cursor to the rest."""

    groups: tuple[Group, ...]
    counts: Mapping[str, int]
    next_cursor: str
    total: int

    @property
    def shown(self) -> int:
        """The number of apps that are shown."""
        return sum(len(group.apps) for group in self.groups)


class Ask(Protocol):
    """A function that returns up to ``limit`` apps from the cursor ``after`` on."""

    def __call__(self, filters: AppFilter, *, limit: int, after: str = "") -> PageOf[App]: ...


def read(
    ask: Ask,
    base: AppFilter,
    connected: Sequence[str] | None,
    *,
    count: int,
    state: str = "",
    after: str = "",
    all_states: bool = True,
    of: int | None = None,
) -> Groups:
    """Up to ``count`` apps from the cursor ``after`` on, of one ``state`` or of each in turn.

    ``connected`` are slugs; None puts all apps into one group, for a service that does not say which are ready. Without
    ``all_states``, apps that are not set up are left out. ``of`` is the number of apps that match ``base``, if it is
    known: it gives the number of apps in the last group.
    """
    narrowed = {"": base} if connected is None else dict(_narrowed(base, connected))
    if not all_states:
        narrowed.pop("setup", None)
    state = state if connected is not None else ""
    begun, _colon, cursor = after.partition(":")
    wanted = [name for name in narrowed if state in ("", name)]
    wanted = wanted[wanted.index(begun) :] if after and begun in wanted else wanted
    groups: list[Group] = []
    apps: list[App]
    counts: dict[str, int] = {}
    next_cursor = ""
    for name, filters in narrowed.items():
        room = count - sum(len(group.apps) for group in groups)
        from_cursor = cursor if name == begun else ""
        if of is not None and name == "setup" and (room <= 0 or name not in wanted):
            apps, counts[name], end = [], max(0, of - sum(counts.values())), from_cursor
        else:
            apps, counts[name], end = _cards(ask, filters, room if name in wanted else 0, from_cursor)
        if name in wanted and not next_cursor and (end or (room <= 0 and counts[name])):
            next_cursor = f"{name}:{end}"
        if apps:
            groups.append(Group(name, tuple(apps), counts[name], not from_cursor))
    total = sum(number for name, number in counts.items() if state in ("", name))
    return Groups(tuple(groups), counts, next_cursor, total)


def _narrowed(base: AppFilter, connected: Sequence[str]) -> Iterator[tuple[str, AppFilter]]:
    slugs = ",".join(connected)
    if slugs:
        yield "connected", replace(base, among=slugs)
    yield "ready", replace(base, ready="true", without=slugs)
    yield "setup", replace(base, ready="false", without=slugs)


def _cards(ask: Ask, filters: AppFilter, count: int, after: str) -> tuple[list[App], int, str]:
    """Up to ``count`` apps, their total number, and the cursor to the next ones."""
    if count <= 0:
        return [], ask(filters, limit=1).total, after
    apps: list[App] = []
    while True:
        page = ask(filters, limit=min(_CHUNK, count - len(apps)), after=after)
        apps += page.items
        after = page.end_cursor if page.items else ""
        if not after or len(apps) >= count:
            return apps, page.total, after
