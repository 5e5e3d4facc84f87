"""The permissions that an external user gives to agents (table ``agent_permissions``): *off*, *ask* or *on* for each
action.

An action has its own level, else its app's, else its default: *ask* if it is destructive, *on* otherwise. While its
tool at an MCP server is not as it was read, *on* counts as *ask*. An agent does not see an action that is off, and a
call of it is answered as unknown. People see their permissions app by app and action by action.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import orjson

from webapp import audit
from webapp.errors import Invalid
from webapp.kit import cursors
from webapp.kit.crypto import stable_id
from webapp.service.catalog.components import ComponentFilter, ComponentInfo
from webapp.service.domain.accounts import accounts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import held_tools
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

Level = Literal["off", "ask", "on"]
LEVELS: tuple[Level, ...] = get_args(Level)
_WHOLE_APP = ""
NO_APP = ""  # the app of actions that belong to none


@dataclass(frozen=True, slots=True)
class _Permission:
    id: str
    external_user_id: str
    app: str
    action: str
    level: Level
    changed_at: int


_PERMISSIONS = Table("agent_permissions", _Permission)


@dataclass(frozen=True, slots=True)
class Permissions:
    """The levels that a person chose: of apps by slug, of actions by the component's key."""

    apps: Mapping[str, Level] = field(default_factory=dict)
    actions: Mapping[str, Level] = field(default_factory=dict)

    def level(self, component: ComponentInfo) -> Level:
        """What agents may do with ``component``."""
        chosen = self.actions.get(component.key) or self.apps.get(component.app or "")
        return chosen or initial(component)


def initial(component: ComponentInfo) -> Level:
    """The default level of an action: *ask* if it is destructive."""
    return "ask" if orjson.loads(component.json)["annotations"]["destructiveHint"] else "on"


def of_user(reader: Reader, user: ExternalUser | None) -> Permissions:
    """The choices of ``user``; empty for an unknown one."""
    if user is None:
        return Permissions()
    rows = _PERMISSIONS.all(reader, "external_user_id = :user", {"user": user.id})
    return Permissions(
        {row.app: row.level for row in rows if row.action == _WHOLE_APP},
        {row.action: row.level for row in rows if row.action != _WHOLE_APP},
    )


def level(service: Service, scene: Scene, external_id: str, component: ComponentInfo) -> Level:
    """What agents of the user ``external_id`` may do with ``component``."""
    user = external_users.find(service.store, scene, external_id)
    chosen = of_user(service.store, user).level(component)
    return "ask" if chosen == "on" and held_tools.is_noted(service.store, component.key) else chosen


def set_action(service: Service, scene: Scene, external_id: str, component: ComponentInfo, chosen: str) -> None:
    """Set the level of ``component`` to ``chosen`` for agents of a user. Raises :class:`Invalid`."""
    _check(chosen)
    with service.store.write() as tx:
        user = external_users.ensure(tx, scene, external_id, service.clock())
        _write(service, tx, user, component.app or "", component.key, chosen)


def set_app(service: Service, scene: Scene, external_id: str, app: str, chosen: str | None) -> None:
    """Set all actions of the app ``app`` to the level ``chosen``, or with None to their defaults.

    Choices for single actions are deleted. Raises :class:`Invalid`.
    """
    if chosen is not None:
        _check(chosen)
    with service.store.write() as tx:
        user = external_users.ensure(tx, scene, external_id, service.clock())
        tx.run(
            "DELETE FROM agent_permissions WHERE external_user_id = :user AND app = :app", {"user": user.id, "app": app}
        )
        if chosen is None:
            _note(service, tx, user, app, "as they begin with")
        else:
            _write(service, tx, user, app, _WHOLE_APP, chosen)


def _write(service: Service, tx: Tx, user: ExternalUser, app: str, action: str, chosen: str) -> None:
    row_id = stable_id("agp", user.id, app, action)
    params = {"id": row_id, "user": user.id, "app": app, "action": action, "level": chosen, "now": service.clock()}
    tx.run(
        "INSERT INTO agent_permissions (id, external_user_id, app, action, level, changed_at) "
        "VALUES (:id, :user, :app, :action, :level, :now) "
        "ON CONFLICT (id) DO UPDATE SET level = excluded.level, changed_at = excluded.changed_at",
        params,
    )
    _note(service, tx, user, action or app, chosen)


def _note(service: Service, tx: Tx, user: ExternalUser, subject: str, chosen: str) -> None:
    sentence = f"Changed what agents may do with {subject}: {chosen}."
    where = {**user.scene.params, "external_user_id": user.id}
    audit.write(tx, service.clock(), "agent", subject, "permitted", sentence, **where)


def _check(chosen: str) -> None:
    if chosen not in LEVELS:
        raise Invalid.of("level", "Use off, ask or on.")


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
    """The apps with actions that the user has connected, or chosen something for, by name.

    The actions without an app, which anybody may run, come last.
    """
    user = external_users.find(service.store, scene, external_id)
    chosen = of_user(service.store, user)
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
    chosen = of_user(service.store, external_users.find(service.store, scene, external_id))
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
