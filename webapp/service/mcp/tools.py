"""The tools of one agent: the actions that it may use, and four tools of ours beside them (contract "Agents").

More than :data:`MAX_LISTED` actions would fill a model's context, so then a list holds those that were used lately
alone, and the others are searched for.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.tool_names import NamedAction, ToolNames
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.agents import permissions
from webapp.service.domain.agents.permissions import Permissions
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import recent_actions
from webapp.service.mcp import account_choice, own_tools, schemas
from webapp.service.mcp.visitors import Visitor

Tool = dict[str, Any]
MAX_LISTED = 40
PAGE = 25
MAX_DESCRIPTION = 1_000
ASKED = "The person is asked before it runs."


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What one agent may use. ``accounts`` are those of the person whom it works for, oldest first; ``apps`` the slugs
    to which it is limited, if any."""

    names: ToolNames
    apps: tuple[str, ...]
    permissions: Permissions
    accounts: Sequence[Account]

    @property
    def actions(self) -> Sequence[NamedAction]:
        """The actions by name. There may be a hundred thousand, so that they are looked through only where need be."""
        actions = self.names.of_apps(self.apps)
        chosen = (*self.permissions.apps.values(), *self.permissions.actions.values())
        return [action for action in actions if self._shows(action)] if "off" in chosen else actions

    def has(self, key: str) -> bool:
        """Whether the agent may know of the action with that key."""
        action = self.names.by_key.get(key)
        return action is not None and self._shows(action)

    def _shows(self, action: NamedAction) -> bool:
        """Whether it is of the agent's apps, and the person did not switch it off; no action begins so."""
        chosen = self.permissions.actions.get(action.key) or self.permissions.apps.get(action.app or "")
        return chosen != "off" and (not self.apps or action.app in self.apps)


def toolbox(service: Service, visitor: Visitor) -> Toolbox:
    """What the agent may use that works for ``visitor``."""
    user = visitor.user(service)
    return Toolbox(
        service.catalog.tool_names(),
        visitor.apps,
        permissions.of_user(service.store, user),
        accounts.of_user(service.store, user) if user else (),
    )


def find(service: Service, visitor: Visitor, name: str) -> ComponentInfo | None:
    """The action that the agent may use under ``name``; None where there is none, or it is not to know of it."""
    names, permitted = service.catalog.tool_names(), permissions.of_user(service.store, visitor.user(service))
    action = names.by_name.get(name)
    if action is None or not Toolbox(names, visitor.apps, permitted, ()).has(action.key):
        return None
    return service.catalog.component(action.key)


def listed(service: Service, visitor: Visitor, after: str) -> tuple[list[Tool], str]:
    """One page of the tools after the name ``after``, and the name to go on from; "" after the last."""
    box = toolbox(service, visitor)
    actions = box.actions
    if is_many := len(actions) > MAX_LISTED:
        actions = _recent(service, visitor, box)
    ours = {tool["name"]: tool for tool in own_tools.tools(searched=is_many)}
    names = sorted([*ours, *(action.name for action in actions)])
    page = [name for name in names if name > after][: PAGE + 1]
    keys = {action.name: action.key for action in actions}
    tools = [ours[name] if name in ours else drawn(service, box, keys[name]) for name in page[:PAGE]]
    return [tool for tool in tools if tool], page[PAGE - 1] if len(page) > PAGE else ""


def drawn(service: Service, box: Toolbox, key: str) -> Tool:
    """The action ``key`` as a tool; empty where it has just gone."""
    component = service.catalog.component(key)
    if component is None:
        return {}
    tool = base(box.names.by_key[key].name, component.json, component.has_reload)
    if box.permissions.level(component) == "ask":
        tool = {**tool, "description": f"{tool['description']} {ASKED}"}
    several = [choice for choice in account_choice.arguments(component.props, box.accounts) if len(choice.usable) > 1]
    if not several:
        return tool
    schema = tool["inputSchema"]
    required = [*schema.get("required", ()), *(choice.name for choice in several if choice.is_needed)]
    properties = {**{choice.name: choice.schema() for choice in several}, **schema["properties"]}
    more = {"required": required} if required else {}
    return {**tool, "inputSchema": {**schema, "properties": properties, **more}}


@functools.lru_cache(maxsize=1024)
def base(name: str, json: bytes, reloads: bool) -> Tool:
    """An action as a tool for somebody with one account of each app. It is shared: nobody may change it."""
    component = orjson.loads(json)
    description = component["description"]
    return {
        "name": name,
        "title": component["name"],
        "description": description[:MAX_DESCRIPTION],
        "inputSchema": schemas.input_schema(component["configurable_props"], reloads=reloads),
        "annotations": component["annotations"],
    }


def _recent(service: Service, visitor: Visitor, box: Toolbox) -> list[NamedAction]:
    """The actions that were run lately for this person, as many as a list may hold."""
    keys = recent_actions.keys(service.store, visitor.scene, visitor.external_id)
    return [box.names.by_key[key] for key in keys if box.has(key)][:MAX_LISTED]
