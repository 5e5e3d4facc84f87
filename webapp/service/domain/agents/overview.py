"""What agents may do for a user, app by app and action by action, for people to look at."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from webapp.kit import cursors
from webapp.service.catalog.components import ComponentFilter, ComponentInfo
from webapp.service.domain.accounts import accounts
from webapp.service.domain.agents import permissions
from webapp.service.domain.agents.permissions import LEVELS, Level
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene

NO_APP = ""
"""What the actions that belong to no app stand under."""


@dataclass(frozen=True, slots=True)
class AppLevels:
    """One app, or :data:`NO_APP`: the level that was chosen for all of it, and how many of its actions have each."""

    app: str
    name: str
    chosen: Level | None
    counts: Counter[Level]

    def to_json(self) -> dict[str, Any]:
        """The app as the API shows it."""
        counts = {level: self.counts[level] for level in LEVELS}
        return {"app": self.app, "name": self.name, "level": self.chosen, "counts": counts}


@dataclass(frozen=True, slots=True)
class ActionLevel:
    """One action, and what agents may do with it."""

    component: ComponentInfo
    level: Level

    def to_json(self) -> dict[str, Any]:
        """The action as the API shows it."""
        hints = orjson.loads(self.component.json)["annotations"]
        return {
            "key": self.component.key,
            "name": self.component.name,
            "description": self.component.description,
            "level": self.level,
            "reads": hints["readOnlyHint"],
            "destroys": hints["destructiveHint"] and not hints.get("spendsHint", False),
        }


def apps(service: Service, scene: Scene, external_id: str) -> list[AppLevels]:
    """The apps that have actions and that the user has connected, or chosen something for, by name.

    The actions without an app, which anybody may run, stand last.
    """
    user = external_users.find(service.store, scene, external_id)
    chosen = permissions.of_user(service.store, user)
    connected = accounts.of_user(service.store, user) if user else ()
    slugs = {account.app for account in connected} | chosen.apps.keys()
    known = [(app.slug, app.name) for app in service.catalog.apps(sorted(slugs)) if app.slug in slugs]
    return [
        AppLevels(slug, name, chosen.apps.get(slug), counts)
        for slug, name in [*sorted(known, key=lambda app: app[1].lower()), (NO_APP, "")]
        if (counts := Counter(chosen.level(component) for component in _actions(service, slug)))
    ]


def actions(service: Service, scene: Scene, external_id: str, app: str) -> list[ActionLevel]:
    """Every action of the app with slug ``app``, or of :data:`NO_APP`, by name."""
    chosen = permissions.of_user(service.store, external_users.find(service.store, scene, external_id))
    return [ActionLevel(component, chosen.level(component)) for component in _actions(service, app)]


def _actions(service: Service, app: str) -> Iterator[ComponentInfo]:
    if app == NO_APP:
        loose = [service.catalog.component(action.key) for action in service.catalog.tool_names().without_app]
        yield from sorted(filter(None, loose), key=lambda component: component.name.lower())
        return
    narrowed, after = ComponentFilter.of(None, app, "action", "all"), None
    while True:
        page = service.catalog.components(narrowed, cursors.Window(cursors.MAX_LIMIT, after))
        yield from page.items
        after = page.end_cursor
        if not after:
            return
